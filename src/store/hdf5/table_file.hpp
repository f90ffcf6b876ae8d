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

/// Rows of a whole chunk. A shorter column has one chunk of its own size. A chunk of doubles has
/// 512 KiB, which suits HDF5's chunk cache and the stripes of parallel file systems (both 1 MiB).
constexpr std::uint64_t chunk_rows = 1 << 16;

/// Whether to write attributes for other programs: units, descriptions, and dimensions as in
/// netCDF-4. They take half of the time of writing a small file.
enum class Captions { written, left_out };

/// Creates the dimension and the columns of a table that all ranks write together.
/// @param rows the sum over all ranks
void create_shared_table(hid_t place, const Table& table, std::uint64_t rows);

/// Writes rows from `first` on into a column that already has this size.
/// @param values of the column's type  @param transfer the same property list on all ranks that
/// write together
void write_rows(hid_t place, const TableKey& key, const Column& column, std::uint64_t first,
                std::span<const std::byte> values, hid_t transfer = H5P_DEFAULT);

/// Creates and writes tables of one process.
/// @param place a file, or the group for the groups of the tables
/// @param threads for packing; one if a GPU is measured at the same time
void write_tables(hid_t place, std::span<const Table> tables, Captions captions = Captions::written,
                  std::size_t threads = 1);

/// Writes the tables of one part of a run after the other. Only whole chunks are written at once;
/// the rest waits for more rows. So no chunk is packed twice, and the memory holds the new part and
/// less than a chunk of each column.
class TableAppender {
 public:
  /// @param file must outlive this object
  explicit TableAppender(hid_t file) : file_(file) {}

  /// Row numbers in the part count from its own first row. @throws StoreError
  void append(std::vector<Table> part);

  /// Writes the rest of all tables. @throws StoreError
  void finish();

 private:
  struct Growing {
    Table waiting;
    std::uint64_t written_rows = 0;
  };
  void write_chunks(Growing& table);
  void write_rest(Growing& table);

  hid_t file_;
  std::map<TableKey, std::size_t> places_;
  std::vector<Growing> tables_;
};

}  // namespace sonde
