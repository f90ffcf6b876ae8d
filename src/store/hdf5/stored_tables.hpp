// Tables of a file that anyone may have made: what they claim is checked before it is believed.
#pragma once

#include "store/hdf5/hdf5.hpp"
#include "store/hdf5/rows.hpp"
#include "store/hdf5/table.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace sonde {

/// The type of HDF5 of its elements, in the file as in memory.
hid_t file_type(const Values& values);

/// The tables of a run file, or of one part of a shard. A table that is not there has no rows.
class StoredTables {
 public:
  /// @param file stays open as long as the tables are used
  /// @param prefix of all groups: empty, or ends with `/`
  explicit StoredTables(hid_t file, std::string prefix = "")
      : file_(file), prefix_(std::move(prefix)) {}

  /// @throws StoreError as read does
  std::uint64_t rows(const TableKey& key) const;

  /// Some rows of the columns of an empty table. Datasets, filters and types must be those that
  /// sonde writes, the columns as long as their table, and all elements in a file of that size.
  /// @throws StoreError naming the dataset if they are not, or the file does not have these rows
  Table read(Table empty, RowRange rows) const;

  /// Read once; texts of rows are views in it. @throws StoreError
  const Names& names() const;

 private:
  hid_t file_;
  std::string prefix_;
  mutable std::shared_ptr<const Names> names_;
};

/// What the groups of each part of a shard begin with, in the order of their making: a shard has
/// the tables of a run for its device, and for each of its jobs. None of a run file. @throws
/// StoreError
std::vector<std::string> list_parts(hid_t file);
/// The group of a part that is to follow so many others.
std::string part_group(std::size_t index);

/// How much of a run is read: each has what the one before it has. With probes alone these are
/// there, but neither their lanes nor their repeats.
enum class Depth { findings, probes, traces };

/// Reads all rows of all tables of a run, but for traces that are not wanted, and gives them up
/// again: what cannot be read, or ends a process, does so here. @throws StoreError
void read_all_columns(const StoredTables& tables, Depth depth);

}  // namespace sonde
