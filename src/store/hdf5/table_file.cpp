#include "store/hdf5/table_file.hpp"

#include "store/hdf5/chunks.hpp"
#include "store/hdf5/stored_tables.hpp"

#include <fmt/format.h>
#include <hdf5_hl.h>

#include <algorithm>
#include <utility>

namespace sonde {
namespace {

using hdf5::check;
using hdf5::Handle;

// Below this size, compression saves less than the filter's own bytes.
constexpr std::size_t least_compressed_bytes = 1 << 10;

/// How a column gets its rows: at once by one process, by all ranks together, or chunk by chunk.
enum class Filling { at_once, shared, growing };

Handle make_space(std::uint64_t rows, Filling filling = Filling::at_once) {
  const hsize_t size = rows;
  const hsize_t unlimited = H5S_UNLIMITED;
  return Handle(H5Screate_simple(1, &size, filling == Filling::growing ? &unlimited : nullptr),
                H5Sclose, "making a space");
}

Handle bare_layout() {
  Handle creation = hdf5::make_properties(H5P_DATASET_CREATE);
  check(H5Pset_obj_track_times(creation, false), "switching time stamps off");
  return creation;
}

bool is_compressed(std::uint64_t rows, std::size_t element_bytes) {
  return rows * element_bytes >= least_compressed_bytes;
}

/// The chunks of a column and their filters.
Handle column_layout(std::uint64_t rows, std::size_t element_bytes, Filling filling) {
  Handle creation = bare_layout();
  if (rows == 0) return creation;
  // Otherwise parallel HDF5 fills each column first, and all ranks wait for that.
  check(H5Pset_fill_time(creation, H5D_FILL_TIME_NEVER), "no filling");
  if (filling == Filling::shared) {
    // Allocates the chunks now, in one process. Otherwise the ranks do it together when they open
    // the column, and a rank on which that fails would leave the others waiting.
    check(H5Pset_alloc_time(creation, H5D_ALLOC_TIME_EARLY), "making the chunks of a column");
  }
  const hsize_t chunk = std::min(rows, chunk_rows);
  check(H5Pset_chunk(creation, 1, &chunk), "setting the chunk size");
  if (!is_compressed(rows, element_bytes)) {
    check(H5Pset_fletcher32(creation), "choosing checksums");
    return creation;
  }
  // Deflated data already has a checksum.
  if (element_bytes > 1) check(H5Pset_shuffle(creation), "choosing shuffle");
  check(H5Pset_deflate(creation, deflate_level), "choosing compression");
  return creation;
}

std::string path_of(const TableKey& key, const std::string& name) { return key.group + "/" + name; }

Handle open_column(hid_t place, const std::string& path) {
  return Handle(H5Dopen2(place, path.c_str(), H5P_DEFAULT), H5Dclose, "opening " + path);
}

void create_columns(hid_t place, const Table& table, std::uint64_t rows, Filling filling,
                    Captions captions) {
  const Handle group = hdf5::make_groups(place, table.key.group);
  for (const Column& column : table.columns) {
    const Handle layout = column_layout(rows, element_bytes(column.values), filling);
    const Handle dataset(H5Dcreate2(group, column.name.c_str(), file_type(column.values),
                                    make_space(rows, filling), H5P_DEFAULT, layout, H5P_DEFAULT),
                         H5Dclose, "creating " + path_of(table.key, column.name));
    if (captions == Captions::left_out) continue;
    hdf5::write_attribute(dataset, "units", column.units);
    hdf5::write_attribute(dataset, "long_name", column.long_name);
  }
}

/// Creates a dimension without coordinates: it has the size of the table and never gets values.
void create_scale(hid_t place, const Table& table, std::uint64_t rows, Captions captions) {
  const Handle group = hdf5::open_group(place, table.key.group);
  const Handle scale(H5Dcreate2(group, table.key.dimension.c_str(), H5T_STD_U8LE, make_space(rows),
                                H5P_DEFAULT, bare_layout(), H5P_DEFAULT),
                     H5Dclose, "creating the dimension " + table.key.dimension);
  if (captions == Captions::left_out) return;
  check(H5DSset_scale(scale, fmt::format("This is a netCDF dimension but not a netCDF variable."
                                         "{:>10}",
                                         rows)
                                 .c_str()),
        "making a dimension of " + table.key.dimension);
  for (const Column& column : table.columns) {
    check(H5DSattach_scale(open_column(group, column.name), scale, 0),
          "attaching the dimension of " + column.name);
  }
}

/// Writes the first `rows` rows of a table as rows from `first` on. They end a chunk or the table.
void write_front(hid_t place, const Table& table, std::uint64_t rows, std::uint64_t first,
                 std::size_t threads) {
  if (rows == 0) return;
  const std::uint64_t in_chunk = first > 0 ? chunk_rows : std::min(rows, chunk_rows);
  for (const Column& column : table.columns) {
    const std::size_t bytes = element_bytes(column.values);
    const auto values = bytes_of(column.values).first(rows * bytes);
    if (is_compressed(first + rows, bytes)) {
      write_chunks(open_column(place, path_of(table.key, column.name)), {bytes, in_chunk}, first,
                   values, threads);
    } else {
      write_rows(place, table.key, column, first, values);
    }
  }
}

/// Extends the columns of a growing table to this number of rows.
void extend(hid_t place, const Table& table, std::uint64_t rows) {
  const hsize_t size = rows;
  for (const Column& column : table.columns) {
    const std::string path = path_of(table.key, column.name);
    check(H5Dset_extent(open_column(place, path), &size), "making room in " + path);
  }
}

}  // namespace

void create_shared_table(hid_t place, const Table& table, std::uint64_t rows) {
  create_columns(place, table, rows, Filling::shared, Captions::written);
  create_scale(place, table, rows, Captions::written);
}

void write_rows(hid_t place, const TableKey& key, const Column& column, std::uint64_t first,
                std::span<const std::byte> values, hid_t transfer) {
  const std::string path = path_of(key, column.name);
  const Handle dataset = open_column(place, path);
  const Handle target(H5Dget_space(dataset), H5Sclose, "reading the size of " + path);
  const hsize_t start = first;
  const hsize_t size = values.size() / element_bytes(column.values);
  const Handle source = make_space(std::max<std::uint64_t>(size, 1));
  if (size == 0) {
    check(H5Sselect_none(target), "selecting no rows");
    check(H5Sselect_none(source), "selecting no rows");
  } else {
    check(H5Sselect_hyperslab(target, H5S_SELECT_SET, &start, nullptr, &size, nullptr),
          "selecting rows");
  }
  const std::uint64_t nothing = 0;
  const void* from = size == 0 ? static_cast<const void*>(&nothing) : values.data();
  check(H5Dwrite(dataset, file_type(column.values), source, target, transfer, from),
        "writing " + path);
}

void write_tables(hid_t place, std::span<const Table> tables, Captions captions,
                  std::size_t threads) {
  for (const Table& table : tables) {
    create_columns(place, table, table.rows(), Filling::at_once, captions);
    create_scale(place, table, table.rows(), captions);
    write_front(place, table, table.rows(), 0, threads);
  }
}

void TableAppender::append(std::vector<Table> part) {
  std::map<TableKey, std::uint64_t> first_rows;
  for (const Table& table : part) {
    const auto [place, is_new] = places_.try_emplace(table.key, tables_.size());
    if (is_new) tables_.push_back({.waiting = empty_copy(table)});
    const Growing& all = tables_[place->second];
    first_rows[table.key] = all.written_rows + all.waiting.rows();
  }
  for (Table& table : part) {
    Growing& all = tables_[places_.at(table.key)];
    for (std::size_t c = 0; c < table.columns.size(); ++c) {
      auto& [name, units, long_name, values, counts] = table.columns[c];
      // Rows of names already count over all parts.
      if (!counts.group.empty() && counts != names_key) shift(values, first_rows.at(counts));
      sonde::append(all.waiting.columns[c].values, std::move(values));
    }
    write_chunks(all);
  }
}

void TableAppender::finish() {
  for (Growing& table : tables_) write_rest(table);
}

/// Writes the whole chunks that wait; the columns grow by them.
void TableAppender::write_chunks(Growing& table) {
  const std::uint64_t whole = table.waiting.rows() / chunk_rows * chunk_rows;
  if (whole == 0) return;
  if (table.written_rows == 0) {
    create_columns(file_, table.waiting, whole, Filling::growing, Captions::written);
  }
  extend(file_, table.waiting, table.written_rows + whole);
  write_front(file_, table.waiting, whole, table.written_rows, packing_threads());
  for (Column& column : table.waiting.columns) drop_front(column.values, whole);
  table.written_rows += whole;
}

void TableAppender::write_rest(Growing& table) {
  if (table.written_rows == 0) {
    return write_tables(file_, {&table.waiting, 1}, Captions::written, packing_threads());
  }
  const std::uint64_t rows = table.written_rows + table.waiting.rows();
  extend(file_, table.waiting, rows);
  write_front(file_, table.waiting, table.waiting.rows(), table.written_rows, packing_threads());
  create_scale(file_, table.waiting, rows, Captions::written);
}

}  // namespace sonde
