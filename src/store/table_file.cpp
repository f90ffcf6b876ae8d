// Datasets, dimension scales and hyperslabs.
#include "store/table_file.hpp"

#include <fmt/format.h>
#include <hdf5_hl.h>

#include <algorithm>

namespace sonde {
namespace {

using hdf5::check;
using hdf5::Handle;

// One chunk is the unit of compression and of reading: 256 KiB to 1 MiB is what HDF5's own chunk
// cache (1 MiB) and parallel file systems' stripes (1 MiB) handle well.
constexpr std::size_t chunk_bytes = 512 << 10;
// Smaller columns are kept plain: each chunked dataset costs a B-tree node of some KiB.
constexpr std::size_t least_compressed_bytes = 32 << 10;
// The fastest level: with shuffle before it, higher ones gained below 5 % on traces.
constexpr unsigned deflate_level = 1;
// Of one column and rank at a time: bounds what a collective compressed write holds in memory.
constexpr std::uint64_t round_bytes = 64 << 20;

Handle file_type(ElementType type, std::size_t element_bytes) {
  const auto copy = [](hid_t kind) { return Handle(H5Tcopy(kind), H5Tclose, "making a type"); };
  switch (type) {
    case ElementType::u8: return copy(H5T_STD_U8LE);
    case ElementType::cycles: return copy(element_bytes == 2 ? H5T_STD_U16LE : H5T_STD_U32LE);
    case ElementType::u64: return copy(H5T_STD_U64LE);
    case ElementType::i32: return copy(H5T_STD_I32LE);
    case ElementType::i64: return copy(H5T_STD_I64LE);
    case ElementType::f64: return copy(H5T_IEEE_F64LE);
    case ElementType::text: return hdf5::utf8_type(element_bytes);
  }
  throw Error("unknown element type");
}

Handle make_space(std::uint64_t rows) {
  const hsize_t size = rows;
  return Handle(H5Screate_simple(1, &size, nullptr), H5Sclose, "making a space");
}

enum class Fill { zeros, never };

bool is_compressed(std::uint64_t rows, std::size_t element_bytes) {
  return rows * element_bytes >= least_compressed_bytes;
}

Handle layout(std::uint64_t rows, std::size_t element_bytes, bool numbers, Fill fill) {
  Handle creation = hdf5::make_properties(H5P_DATASET_CREATE);
  check(H5Pset_obj_track_times(creation, false), "switching time stamps off");
  if (!is_compressed(rows, element_bytes)) {
    // Parallel HDF5 would fill each column, and wait for all ranks, before its rows are written.
    if (fill == Fill::never) check(H5Pset_fill_time(creation, H5D_FILL_TIME_NEVER), "no filling");
    return creation;
  }
  const hsize_t chunk =
      std::min<hsize_t>(rows, std::max<std::size_t>(1, chunk_bytes / element_bytes));
  check(H5Pset_chunk(creation, 1, &chunk), "setting the chunk size");
  if (numbers && element_bytes > 1) check(H5Pset_shuffle(creation), "choosing shuffle");
  check(H5Pset_deflate(creation, deflate_level), "choosing compression");
  return creation;
}

/// A dimension without coordinates, in the way of netCDF-4: nothing is ever written to it, one
/// byte per row that compresses to almost nothing.
Handle create_scale(hid_t group, const std::string& name, std::uint64_t rows) {
  Handle scale(H5Dcreate2(group, name.c_str(), H5T_STD_U8LE, make_space(rows), H5P_DEFAULT,
                          layout(rows, 1, false, Fill::zeros), H5P_DEFAULT),
               H5Dclose, "creating the dimension " + name);
  check(H5DSset_scale(scale, fmt::format("This is a netCDF dimension but not a netCDF variable."
                                         "{:>10}",
                                         rows)
                                 .c_str()),
        "making a dimension of " + name);
  return scale;
}

std::uint64_t extent_of(hid_t space) {
  return static_cast<std::uint64_t>(check(H5Sget_simple_extent_npoints(space), "reading a size"));
}

std::string path_of(const TableKey& key, const std::string& column) {
  return key.group + "/" + column;
}

Handle open_column(hid_t file, const TableKey& key, const std::string& column) {
  const std::string path = path_of(key, column);
  return Handle(H5Dopen2(file, path.c_str(), H5P_DEFAULT), H5Dclose, "opening " + path);
}

void select_rows(hid_t space, std::uint64_t first, std::uint64_t count) {
  if (count == 0) {
    check(H5Sselect_none(space), "selecting no rows");
    return;
  }
  const hsize_t start = first;
  const hsize_t size = count;
  check(H5Sselect_hyperslab(space, H5S_SELECT_SET, &start, nullptr, &size, nullptr),
        "selecting rows");
}

void write_slice(hid_t file, const FilePlan& plan, const TablePlan& table, std::size_t part,
                 const Table& rows, std::size_t c, RowRange slice, hid_t transfer) {
  const ColumnSpec& column = table.columns[c];
  const std::size_t bytes = table.element_bytes[c];
  const auto packed = pack(column.type, rows.values[c], bytes, slice.offset, slice.length,
                           plan.shift(column, part));
  Handle dataset = open_column(file, table.key, column.name);
  Handle type = file_type(column.type, bytes);
  Handle target = make_space(table.rows);
  select_rows(target, table.first_row[part] + slice.offset, slice.length);
  Handle source = make_space(std::max<std::uint64_t>(slice.length, 1));
  select_rows(source, 0, slice.length);
  const std::byte nothing{};
  check(
      H5Dwrite(dataset, type, source, target, transfer, packed.empty() ? &nothing : packed.data()),
      "writing " + path_of(table.key, column.name));
}

}  // namespace

void run_alone(const std::function<void()>& step) { step(); }

void create_table(hid_t file, const TablePlan& plan) {
  Handle group = hdf5::make_groups(file, plan.key.group);
  Handle scale = create_scale(group, plan.key.dimension, plan.rows);
  for (std::size_t c = 0; c < plan.columns.size(); ++c) {
    const ColumnSpec& column = plan.columns[c];
    const std::size_t bytes = plan.element_bytes[c];
    Handle dataset(
        H5Dcreate2(group, column.name.c_str(), file_type(column.type, bytes), make_space(plan.rows),
                   H5P_DEFAULT,
                   layout(plan.rows, bytes, column.type != ElementType::text, Fill::never),
                   H5P_DEFAULT),
        H5Dclose, "creating " + path_of(plan.key, column.name));
    hdf5::write_attribute(dataset, "units", column.units);
    hdf5::write_attribute(dataset, "long_name", column.long_name);
    check(H5DSattach_scale(dataset, scale, 0), "attaching the dimension of " + column.name);
  }
}

void write_rows(hid_t file, const FilePlan& plan, const TablePlan& table, std::size_t part,
                const Table& rows, hid_t transfer, const StepRunner& run_step) {
  if (table.rows == 0) return;
  // Plain columns go independently, all in one step; compressed ones must be written collectively,
  // and after each such call all ranks must know that nobody was left behind in it.
  run_step([&] {
    for (std::size_t c = 0; c < table.columns.size(); ++c) {
      if (is_compressed(table.rows, table.element_bytes[c]) || rows.rows() == 0) continue;
      write_slice(file, plan, table, part, rows, c, {0, rows.rows()}, H5P_DEFAULT);
    }
  });
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    if (!is_compressed(table.rows, table.element_bytes[c])) continue;
    const std::uint64_t per_round =
        std::max<std::uint64_t>(1, round_bytes / table.element_bytes[c]);
    for (std::uint64_t done = 0; done < table.most_rows; done += per_round) {
      run_step([&] {
        const std::uint64_t first = std::min(done, rows.rows());
        const std::uint64_t count = std::min(per_round, rows.rows() - first);
        write_slice(file, plan, table, part, rows, c, {first, count}, transfer);
      });
    }
  }
}

void write_tables(hid_t file, const std::vector<Table>& tables) {
  for (const Table& table : tables) {
    const TablePlan plan = plan_alone(table);
    create_table(file, plan);
    write_rows(file, {}, plan, 0, table, H5P_DEFAULT, run_alone);
  }
}

std::uint64_t count_rows(hid_t file, const TableKey& key) {
  if (!hdf5::has_link(file, path_of(key, key.dimension))) return 0;
  Handle dataset = open_column(file, key, key.dimension);
  Handle space(H5Dget_space(dataset), H5Sclose, "reading a size");
  return extent_of(space);
}

TableShape read_shape(hid_t file, const Table& empty) {
  TableShape shape{.rows = count_rows(file, empty.key), .element_bytes = {}};
  for (std::size_t c = 0; c < empty.columns.size(); ++c) {
    const ColumnSpec& column = empty.columns[c];
    if (shape.rows == 0) {
      shape.element_bytes.push_back(element_bytes(column.type, empty.values[c]));
      continue;
    }
    Handle dataset = open_column(file, empty.key, column.name);
    Handle stored(H5Dget_type(dataset), H5Tclose, "reading a type");
    shape.element_bytes.push_back(H5Tget_size(stored));
  }
  return shape;
}

Table read_rows(hid_t file, const TableKey& key, const std::vector<ColumnSpec>& columns,
                RowRange range) {
  Table table{key, columns, {}};
  for (const ColumnSpec& column : columns) {
    const std::string path = path_of(key, column.name);
    Handle dataset = open_column(file, key, column.name);
    Handle stored(H5Dget_type(dataset), H5Tclose, "reading the type of " + path);
    const std::size_t bytes = H5Tget_size(stored);
    Handle expected = file_type(column.type, bytes);
    if (H5Tequal(stored, expected) <= 0) {
      throw StoreError(path + " has an unexpected type");
    }
    Handle space(H5Dget_space(dataset), H5Sclose, "reading the size of " + path);
    const std::uint64_t extent = extent_of(space);
    if (range.offset > extent || range.length > extent - range.offset) {
      throw StoreError(fmt::format("{} has {} rows where rows up to {} are referred to", path,
                                   extent, range.offset + range.length));
    }
    std::vector<std::byte> packed(range.length * bytes);
    if (range.length > 0) {
      select_rows(space, range.offset, range.length);
      check(H5Dread(dataset, expected, make_space(range.length), space, H5P_DEFAULT, packed.data()),
            "reading " + path);
    }
    table.values.push_back(unpack(column.type, packed, bytes));
  }
  return table;
}

}  // namespace sonde
