// Tables in HDF5: one dataset per column, all attached to one dimension scale.
#pragma once

#include "store/hdf5/hdf5.hpp"
#include "store/hdf5/table.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

namespace sonde {

/// Rows of a whole chunk. A column with fewer rows is one chunk of as many as it has. A column of
/// doubles has 512 KiB then: what HDF5's own cache of chunks (1 MiB) and the stripes of parallel
/// file systems (1 MiB) handle well.
constexpr std::uint64_t chunk_rows = 1 << 16;

/// What other programs ask for: units, descriptions, and dimensions in the way of netCDF-4. Half of
/// the time that a small file takes.
enum class Captions { written, left_out };

/// Creates the dimension and the columns of a table of which all ranks write their rows.
/// @param rows of all of them
void create_shared_table(hid_t place, const Table& table, std::uint64_t rows);

/// Writes rows of a column that has them, from `first` on.
/// @param values of the column's type  @param transfer properties of the transfer, the same on all
/// ranks that write together
void write_rows(hid_t place, const TableKey& key, const Column& column, std::uint64_t first,
                std::span<const std::byte> values, hid_t transfer = H5P_DEFAULT);

/// Creates and writes tables that belong to one process alone.
/// @param place a file, or a group that the groups of the tables are in
/// @param threads that pack them: one where a GPU is measured meanwhile
void write_tables(hid_t place, std::span<const Table> tables, Captions captions = Captions::written,
                  std::size_t threads = 1);

/// Writes the tables of one part of a run after the other. Whole chunks go into the file, the rest
/// waits for more rows, so that no chunk is packed twice and in memory is at most a chunk of each
/// column beside what comes in.
class TableAppender {
 public:
  /// @param file outlives it
  explicit TableAppender(hid_t file, Captions captions) : file_(file), captions_(captions) {}

  /// Rows of tables in it are counted from its own first. @throws StoreError
  void append(std::vector<Table> part);

  /// Writes what waits; each table that was in a part is in the file then. @throws StoreError
  void finish();

 private:
  struct Growing {
    Table waiting;
    std::uint64_t written_rows = 0;
  };
  void write_chunks(Growing& table);
  void write_rest(Growing& table);

  hid_t file_;
  Captions captions_;
  std::map<TableKey, std::size_t> places_;
  std::vector<Growing> tables_;
};

}  // namespace sonde
