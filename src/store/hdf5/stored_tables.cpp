// Checks what HDF5 tells about a dataset before any value is read.
#include "store/hdf5/stored_tables.hpp"

#include "store/hdf5/chunks.hpp"
#include "store/hdf5/flatten.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace sonde {
namespace {

using hdf5::check;
using hdf5::Handle;

// The largest compression ratio of deflate (zlib's technical notes: 1032 to 1).
constexpr std::uint64_t most_deflation = 1032;
// HDF5 unpacks whole chunks; those of sonde have 512 KiB, other programs may write larger ones.
constexpr std::uint64_t most_chunk_bytes = 16 << 20;
// HDF5 1.10 finds a chunk by a linear search. This allows 8 GiB a column with sonde's chunks.
constexpr std::uint64_t most_chunks = 1 << 14;
// Rows that read_all_columns has in memory at a time.
constexpr std::uint64_t slice_rows = 1 << 20;

/// An open dataset, its creation properties and its filters.
struct Dataset {
  Handle id;
  Handle creation;
  std::vector<H5Z_filter_t> filters;

  bool is_deflated() const { return std::ranges::count(filters, H5Z_FILTER_DEFLATE) > 0; }
};

void require_valid(bool valid, const std::string& path, const std::string& what) {
  if (!valid) throw StoreError(path + " " + what);
}

/// The filters in the order in which they are applied when writing.
std::vector<H5Z_filter_t> filters_of(hid_t creation) {
  std::vector<H5Z_filter_t> filters;
  const int count = H5Pget_nfilters(creation);
  for (int i = 0; i < count; ++i) {
    unsigned flags = 0;
    unsigned config = 0;
    std::size_t values = 0;
    filters.push_back(H5Pget_filter2(creation, static_cast<unsigned>(i), &flags, &values, nullptr,
                                     0, nullptr, &config));
  }
  return filters;
}

/// True for the combinations of filters that sonde writes. Deflated data ends with a checksum of
/// its own, so only uncompressed columns have fletcher32.
bool are_known(const std::vector<H5Z_filter_t>& filters) {
  using Filters = std::vector<H5Z_filter_t>;
  return filters.empty() || filters == Filters{H5Z_FILTER_FLETCHER32} ||
         filters == Filters{H5Z_FILTER_DEFLATE} ||
         filters == Filters{H5Z_FILTER_SHUFFLE, H5Z_FILTER_DEFLATE};
}

/// Opens a dataset whose values lie in this file and have only filters that sonde uses. HDF5 itself
/// would follow links into other files, and load filters as plugins.
Dataset open_dataset(hid_t file, const std::string& path) {
  require_valid(hdf5::has_link(file, path), path, "is missing");
  Handle id(H5Dopen2(file, path.c_str(), H5P_DEFAULT), H5Dclose, "opening " + path);
  Handle creation(H5Dget_create_plist(id), H5Pclose, "reading the layout of " + path);
  require_valid(H5Pget_layout(creation) != H5D_VIRTUAL && H5Pget_external_count(creation) == 0,
                path, "keeps its values in another file");
  auto filters = filters_of(creation);
  require_valid(are_known(filters), path, "has filters that sonde does not use");
  return {std::move(id), std::move(creation), std::move(filters)};
}

std::uint64_t extent_of(hid_t dataset, const std::string& path) {
  const Handle space(H5Dget_space(dataset), H5Sclose, "reading the size of " + path);
  require_valid(
      H5Sget_simple_extent_type(space) == H5S_SIMPLE && H5Sget_simple_extent_ndims(space) == 1,
      path, "has not exactly one dimension");
  hsize_t extent = 0;
  check(H5Sget_simple_extent_dims(space, &extent, nullptr), "reading the size of " + path);
  return extent;
}

/// @returns the most bytes that the stored data of the dataset can unpack to
std::uint64_t most_bytes_of(const Dataset& dataset, const std::string& path) {
  const Handle file(H5Iget_file_id(dataset.id), H5Fclose, "finding the file of " + path);
  hsize_t file_bytes = 0;
  check(H5Fget_filesize(file, &file_bytes), "reading the size of the file");
  const std::uint64_t bytes = H5Dget_storage_size(dataset.id);
  require_valid(bytes <= file_bytes, path, "claims more than the whole file");
  return dataset.is_deflated() ? bytes * most_deflation : bytes;
}

/// @returns the number of rows of a whole chunk
std::uint64_t check_chunks(const Dataset& dataset, const std::string& path, std::uint64_t rows,
                           std::size_t element_bytes) {
  hsize_t in_chunk = 0;
  require_valid(H5Pget_chunk(dataset.creation, 1, &in_chunk) == 1 && in_chunk > 0, path,
                "has unusable chunks");
  require_valid(in_chunk <= most_chunk_bytes / element_bytes, path,
                fmt::format("has chunks of {} elements, more than sonde takes", in_chunk));
  const Handle space(H5Dget_space(dataset.id), H5Sclose, "reading the size of " + path);
  hsize_t count = 0;
  check(H5Dget_num_chunks(dataset.id, space, &count), "counting the chunks of " + path);
  require_valid(count == rows / in_chunk + (rows % in_chunk != 0) && count <= most_chunks, path,
                fmt::format("has {} chunks, too few or too many", count));
  return in_chunk;
}

/// Checks that a file of this size can hold these elements, so that reading them needs no more
/// memory than a multiple of the file's size.
/// @returns the number of rows of a whole chunk
std::uint64_t require_whole(const Dataset& dataset, const std::string& path, std::uint64_t rows,
                            std::size_t element_bytes) {
  require_valid(rows <= most_bytes_of(dataset, path) / element_bytes, path,
                fmt::format("claims {} elements of {} bytes, more than the file can hold", rows,
                            element_bytes));
  if (H5Pget_layout(dataset.creation) != H5D_CHUNKED) return rows;
  return check_chunks(dataset, path, rows, element_bytes);
}

/// Reads some rows of a column into `elements`.
void read_rows(const Dataset& dataset, const std::string& path, hid_t type, RowRange rows,
               const ChunkLayout& layout, std::span<std::byte> elements) {
  if (dataset.is_deflated()) {
    const bool is_shuffled = dataset.filters.size() > 1;
    require_valid(is_shuffled == (layout.element_bytes > 1), path,
                  "is shuffled where it should not");
    try {
      return read_chunks(dataset.id, layout, rows.offset, elements);
    } catch (const StoreError& error) {
      throw StoreError(fmt::format("reading {} failed: {}", path, error.what()));
    }
  }
  const Handle from(H5Dget_space(dataset.id), H5Sclose, "reading the size of " + path);
  const hsize_t first = rows.offset;
  const hsize_t count = rows.length;
  check(H5Sselect_hyperslab(from, H5S_SELECT_SET, &first, nullptr, &count, nullptr),
        "selecting rows");
  const Handle to(H5Screate_simple(1, &count, nullptr), H5Sclose, "making a space");
  check(H5Dread(dataset.id, type, to, from, H5P_DEFAULT, elements.data()), "reading " + path);
}

Names read_names(const StoredTables& tables) {
  std::vector<Table> stored = Names().tables();
  for (Table& table : stored) table = tables.read(table, {0, tables.rows(table.key)});
  const std::vector<Column>& texts = stored[0].columns;
  return {std::get<std::vector<std::uint64_t>>(texts[0].values),
          std::get<std::vector<std::uint32_t>>(texts[1].values),
          std::get<std::vector<std::uint8_t>>(stored[1].columns.front().values)};
}

}  // namespace

hid_t file_type(const Values& values) {
  const hid_t types[]{H5T_STD_U8LE,  H5T_STD_U16LE, H5T_STD_U32LE, H5T_STD_U64LE,
                      H5T_STD_I32LE, H5T_STD_I64LE, H5T_IEEE_F64LE};  // in the order of Values
  static_assert(std::size(types) == std::variant_size_v<Values>);
  return types[values.index()];
}

std::uint64_t StoredTables::rows(const TableKey& key) const {
  const std::string path = prefix_ + key.group + "/" + key.dimension;
  return hdf5::has_link(file_, path) ? extent_of(open_dataset(file_, path).id, path) : 0;
}

Table StoredTables::read(Table table, RowRange range) const {
  const std::uint64_t all_rows = rows(table.key);
  for (Column& column : table.columns) {
    const std::string path = prefix_ + table.key.group + "/" + column.name;
    require_valid(range.offset <= all_rows && range.length <= all_rows - range.offset, path,
                  fmt::format("has {} rows, fewer than are referred to", all_rows));
    if (range.length == 0) continue;
    const Dataset dataset = open_dataset(file_, path);
    const Handle stored(H5Dget_type(dataset.id), H5Tclose, "reading the type of " + path);
    const hid_t type = file_type(column.values);
    require_valid(H5Tequal(stored, type) > 0, path, "has an unexpected type");
    const std::uint64_t extent = extent_of(dataset.id, path);
    require_valid(extent == all_rows, path,
                  fmt::format("has {} rows and its table {}", extent, all_rows));
    const std::size_t bytes = element_bytes(column.values);
    const std::uint64_t in_chunk = require_whole(dataset, path, all_rows, bytes);
    read_rows(dataset, path, type, range, {bytes, in_chunk}, resize(column.values, range.length));
  }
  return table;
}

const Names& StoredTables::names() const {
  if (!names_) names_ = std::make_shared<const Names>(read_names(*this));
  return *names_;
}

std::vector<std::string> list_parts(hid_t file) {
  std::vector<std::string> parts = hdf5::list_groups(file, "parts");
  for (std::string& part : parts) part = "parts/" + part + "/";
  return parts;
}

std::string part_group(std::size_t index) { return fmt::format("parts/{}", index); }

void read_all_columns(const StoredTables& tables, Depth depth) {
  Names names;
  for (const Table& table : with_names(flatten({}, {}, names), names)) {
    if (depth < Depth::traces && table.key.group == keys::lanes.group) continue;
    const std::uint64_t rows = tables.rows(table.key);
    for (std::uint64_t done = 0; done < rows; done += slice_rows) {
      for (const Column& column : table.columns) {
        tables.read({table.key, {column}}, {done, std::min(slice_rows, rows - done)});
      }
    }
  }
}

}  // namespace sonde
