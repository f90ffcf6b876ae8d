// Reads tables of a file from any source: checks all sizes and types before it uses them.
#pragma once

#include "store/hdf5/hdf5.hpp"
#include "store/hdf5/rows.hpp"
#include "store/hdf5/table.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace sonde {

/// The HDF5 type of the elements, the same in the file and in memory.
hid_t file_type(const Values& values);

/// The tables of a run file, or of one part of a shard. A missing table has no rows.
class StoredTables {
 public:
  /// @param file must stay open while the tables are used
  /// @param prefix begins the name of each group: empty, or ends with `/`
  explicit StoredTables(hid_t file, std::string prefix = "")
      : file_(file), prefix_(std::move(prefix)) {}

  /// @throws StoreError as read does
  std::uint64_t rows(const TableKey& key) const;

  /// Reads some rows into the columns of an empty table. Datasets, filters and types must be those
  /// that sonde writes, the columns as long as their table, and the file large enough for them.
  /// @throws StoreError with the name of the dataset if not, or if the file lacks these rows
  Table read(Table empty, RowRange rows) const;

  /// The texts, which are read once; rows hold views into them. @throws StoreError
  const Names& names() const;

 private:
  hid_t file_;
  std::string prefix_;
  mutable std::shared_ptr<const Names> names_;
};

/// The prefixes of the parts of a shard in the order of their creation: one part for its device and
/// one for each of its jobs. Empty for a run file. @throws StoreError
std::vector<std::string> list_parts(hid_t file);
/// The group of the part with this index.
std::string part_group(std::size_t index);

/// How much of a run is read; each level includes those before. `probes` lacks lanes and repeats.
enum class Depth { findings, probes, traces };

/// Reads all rows of all tables of a run (traces only if wanted) and drops them. If a damaged file
/// causes an exception or a crash, it happens here. @throws StoreError
void read_all_columns(const StoredTables& tables, Depth depth);

}  // namespace sonde
