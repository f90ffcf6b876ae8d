// Datasets, dimension scales and hyperslabs.
#include "store/hdf5/table_file.hpp"

#include "store/hdf5/stored_tables.hpp"

#include <fmt/format.h>
#include <hdf5_hl.h>

#include <algorithm>
#include <utility>

namespace sonde {
namespace {

using hdf5::check;
using hdf5::Handle;

// Below it compression gains less than the filter's own bytes.
constexpr std::size_t least_compressed_bytes = 1 << 10;
// The fastest level: with shuffle before it, higher ones gained below 5 % on traces.
constexpr unsigned deflate_level = 1;

enum class Extent { fixed, grows };

Handle make_space(std::uint64_t rows, Extent extent = Extent::fixed) {
  const hsize_t size = rows;
  const hsize_t unlimited = H5S_UNLIMITED;
  return Handle(H5Screate_simple(1, &size, extent == Extent::grows ? &unlimited : nullptr),
                H5Sclose, "making a space");
}

Handle bare_layout() {
  Handle creation = hdf5::make_properties(H5P_DATASET_CREATE);
  check(H5Pset_obj_track_times(creation, false), "switching time stamps off");
  return creation;
}

/// Chunks and their filters.
Handle column_layout(std::uint64_t rows, std::size_t element_bytes, Writers writers) {
  Handle creation = bare_layout();
  if (rows == 0) return creation;
  // Parallel HDF5 would fill each column, and wait for all ranks, before its rows are written.
  check(H5Pset_fill_time(creation, H5D_FILL_TIME_NEVER), "no filling");
  if (writers == Writers::all) {
    // Now, by one process: ranks would do it together where they open the column, and one that
    // cannot would leave the others behind.
    check(H5Pset_alloc_time(creation, H5D_ALLOC_TIME_EARLY), "making the chunks of a column");
  }
  const hsize_t chunk = std::min(rows, chunk_rows);
  check(H5Pset_chunk(creation, 1, &chunk), "setting the chunk size");
  // First, so that it guards what the other filters make of a damaged chunk, too.
  check(H5Pset_fletcher32(creation), "choosing checksums");
  if (rows * element_bytes < least_compressed_bytes) return creation;
  if (element_bytes > 1) check(H5Pset_shuffle(creation), "choosing shuffle");
  check(H5Pset_deflate(creation, deflate_level), "choosing compression");
  return creation;
}

std::string path_of(const TableKey& key, const std::string& name) { return key.group + "/" + name; }

Handle open_column(hid_t place, const std::string& path) {
  return Handle(H5Dopen2(place, path.c_str(), H5P_DEFAULT), H5Dclose, "opening " + path);
}

void create_columns(hid_t place, const Table& table, std::uint64_t rows, Extent extent,
                    Writers writers) {
  const Handle group = hdf5::make_groups(place, table.key.group);
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    const ColumnSpec& column = table.columns[c];
    const std::size_t bytes = element_bytes(table.values[c]);
    const Handle dataset(
        H5Dcreate2(group, column.name.c_str(), file_type(column.type), make_space(rows, extent),
                   H5P_DEFAULT, column_layout(rows, bytes, writers), H5P_DEFAULT),
        H5Dclose, "creating " + path_of(table.key, column.name));
    hdf5::write_attribute(dataset, "units", column.units);
    hdf5::write_attribute(dataset, "long_name", column.long_name);
  }
}

/// A dimension without coordinates, in the way of netCDF-4: nothing is ever written to it.
void create_scale(hid_t place, const Table& table, std::uint64_t rows) {
  const Handle group = hdf5::open_group(place, table.key.group);
  const Handle scale(H5Dcreate2(group, table.key.dimension.c_str(), H5T_STD_U8LE, make_space(rows),
                                H5P_DEFAULT, bare_layout(), H5P_DEFAULT),
                     H5Dclose, "creating the dimension " + table.key.dimension);
  check(H5DSset_scale(scale, fmt::format("This is a netCDF dimension but not a netCDF variable."
                                         "{:>10}",
                                         rows)
                                 .c_str()),
        "making a dimension of " + table.key.dimension);
  for (const ColumnSpec& column : table.columns) {
    check(H5DSattach_scale(open_column(group, column.name), scale, 0),
          "attaching the dimension of " + column.name);
  }
}

void write_all(hid_t place, const Table& table, std::uint64_t first) {
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    write_rows(place, table.key, table.columns[c], first, table.rows(), bytes_of(table.values[c]));
  }
}

Table empty_copy(const Table& table) {
  Table empty{.key = table.key, .columns = table.columns, .values = {}};
  for (const ColumnSpec& column : table.columns) empty.values.push_back(empty_values(column.type));
  return empty;
}

}  // namespace

void create_table(hid_t place, const Table& table, std::uint64_t rows, Writers writers) {
  create_columns(place, table, rows, Extent::fixed, writers);
  create_scale(place, table, rows);
}

void write_rows(hid_t place, const TableKey& key, const ColumnSpec& column, std::uint64_t first,
                std::uint64_t rows, const void* values, hid_t transfer) {
  const std::string path = path_of(key, column.name);
  const Handle dataset = open_column(place, path);
  const Handle target(H5Dget_space(dataset), H5Sclose, "reading the size of " + path);
  const Handle source = make_space(std::max<std::uint64_t>(rows, 1));
  const hsize_t start = first;
  const hsize_t size = rows;
  if (rows == 0) {
    check(H5Sselect_none(target), "selecting no rows");
    check(H5Sselect_none(source), "selecting no rows");
  } else {
    check(H5Sselect_hyperslab(target, H5S_SELECT_SET, &start, nullptr, &size, nullptr),
          "selecting rows");
  }
  const std::uint64_t nothing = 0;
  check(H5Dwrite(dataset, file_type(column.type), source, target, transfer,
                 rows == 0 ? &nothing : values),
        "writing " + path);
}

void write_tables(hid_t place, const std::vector<Table>& tables) {
  for (const Table& table : tables) {
    create_table(place, table, table.rows(), Writers::one);
    if (table.rows() > 0) write_all(place, table, 0);
  }
}

void TableAppender::append(std::vector<Table> part) {
  std::map<TableKey, std::uint64_t> first_rows;
  for (const Table& table : part) {
    const auto [place, is_new] = places_.try_emplace(table.key, tables_.size());
    if (is_new) tables_.push_back({.waiting = empty_copy(table)});
    first_rows[table.key] = rows(table.key);
  }
  for (Table& table : part) {
    Growing& all = tables_[places_.at(table.key)];
    for (std::size_t c = 0; c < table.columns.size(); ++c) {
      const ColumnSpec& column = table.columns[c];
      // Names are counted over all parts already.
      if (column.type == ElementType::row) shift(table.values[c], first_rows.at(column.counts));
      sonde::append(all.waiting.values[c], table.values[c]);
      table.values[c] = {};
    }
    write_chunks(all);
  }
}

std::uint64_t TableAppender::rows(const TableKey& key) const {
  const auto place = places_.find(key);
  if (place == places_.end()) return 0;
  const Growing& table = tables_[place->second];
  return table.written_rows + table.waiting.rows();
}

void TableAppender::finish() {
  for (Growing& table : tables_) write_rest(table);
}

/// A column with more than one chunk grows chunk by chunk.
void TableAppender::write_chunks(Growing& table) {
  const std::uint64_t whole = table.waiting.rows() / chunk_rows * chunk_rows;
  if (whole == 0) return;
  Table chunks = empty_copy(table.waiting);
  for (std::size_t c = 0; c < chunks.columns.size(); ++c) {
    chunks.values[c] = take_front(table.waiting.values[c], whole);
  }
  if (table.written_rows == 0) create_columns(file_, chunks, whole, Extent::grows, Writers::one);
  for (const ColumnSpec& column : chunks.columns) {
    const hsize_t rows = table.written_rows + whole;
    const std::string path = path_of(chunks.key, column.name);
    check(H5Dset_extent(open_column(file_, path), &rows), "making room in " + path);
  }
  write_all(file_, chunks, table.written_rows);
  table.written_rows += whole;
}

void TableAppender::write_rest(Growing& table) {
  const std::uint64_t rest = table.waiting.rows();
  const hsize_t rows = table.written_rows + rest;
  if (table.written_rows == 0) {
    create_columns(file_, table.waiting, rest, Extent::fixed, Writers::one);
  } else {
    for (const ColumnSpec& column : table.waiting.columns) {
      const std::string path = path_of(table.waiting.key, column.name);
      check(H5Dset_extent(open_column(file_, path), &rows), "making room in " + path);
    }
  }
  if (rest > 0) write_all(file_, table.waiting, table.written_rows);
  create_scale(file_, table.waiting, rows);
}

}  // namespace sonde
