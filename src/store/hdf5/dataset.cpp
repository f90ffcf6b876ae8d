// What HDF5 says of a dataset before any of its values is read.
#include "store/hdf5/dataset.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

namespace sonde {
namespace {

using hdf5::check;
using hdf5::Handle;

// The most that deflate can shrink (zlib's technical notes: 1032 to 1).
constexpr std::uint64_t most_deflation = 1032;
// HDF5 unpacks whole chunks; sonde's have 512 KiB (table_file.cpp), others may choose more.
constexpr std::uint64_t most_chunk_bytes = 16 << 20;
// HDF5 1.10 finds one chunk by going through all: 8 GiB a column, in the chunks that sonde makes.
constexpr std::uint64_t most_chunks = 1 << 14;
// Of a message in the header of an object (HDF5 file format, section IV.A.1).
constexpr std::size_t most_header_bytes = 64 << 10;

void require_valid(bool valid, const std::string& path, const std::string& what) {
  if (!valid) throw StoreError(path + " " + what);
}

/// In the order in which they are applied to what is written.
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

/// Each of those that sonde uses, at most once: twice would unpack to the square of what once does.
bool are_known(std::vector<H5Z_filter_t> filters) {
  for (const H5Z_filter_t known : {H5Z_FILTER_DEFLATE, H5Z_FILTER_SHUFFLE, H5Z_FILTER_FLETCHER32}) {
    const auto found = std::ranges::find(filters, known);
    if (found != filters.end()) filters.erase(found);
  }
  return filters.empty();
}

/// @returns the bytes that the dataset takes in the file
std::uint64_t require_stored(hid_t dataset, const std::string& path) {
  const Handle file(H5Iget_file_id(dataset), H5Fclose, "finding the file of " + path);
  hsize_t file_bytes = 0;
  check(H5Fget_filesize(file, &file_bytes), "reading the size of the file");
  const std::uint64_t bytes = H5Dget_storage_size(dataset);
  require_valid(bytes <= file_bytes, path, "claims more than the whole file");
  return bytes;
}

/// @returns the bytes that may come out of the chunks
std::uint64_t require_chunks(const Dataset& dataset, const std::string& path, std::uint64_t rows,
                             std::size_t element_bytes) {
  hsize_t chunk_rows = 0;
  require_valid(H5Pget_chunk(dataset.creation, 1, &chunk_rows) == 1 && chunk_rows > 0, path,
                "has unusable chunks");
  require_valid(chunk_rows == 1 || chunk_rows <= most_chunk_bytes / element_bytes, path,
                fmt::format("has chunks of {} elements, more than sonde takes", chunk_rows));
  const Handle space(H5Dget_space(dataset), H5Sclose, "reading the size of " + path);
  hsize_t count = 0;
  check(H5Dget_num_chunks(dataset, space, &count), "counting the chunks of " + path);
  require_valid(count == rows / chunk_rows + (rows % chunk_rows != 0) && count <= most_chunks, path,
                fmt::format("has {} chunks, too few or too many", count));
  const std::uint64_t stored_bytes = require_stored(dataset, path);
  const auto filters = filters_of(dataset.creation);
  const bool deflated = std::ranges::find(filters, H5Z_FILTER_DEFLATE) != filters.end();
  return deflated ? stored_bytes * most_deflation : stored_bytes;
}

bool is_constant(const Dataset& dataset) {
  H5D_fill_value_t fill = H5D_FILL_VALUE_ERROR;
  return H5Pget_layout(dataset.creation) == H5D_CONTIGUOUS && H5Dget_storage_size(dataset) == 0 &&
         H5Pfill_value_defined(dataset.creation, &fill) >= 0 && fill == H5D_FILL_VALUE_USER_DEFINED;
}

/// No more than a compressed column of the whole file's size could come to.
std::uint64_t most_constant_bytes(hid_t dataset, const std::string& path) {
  const Handle file(H5Iget_file_id(dataset), H5Fclose, "finding the file of " + path);
  hsize_t file_bytes = 0;
  check(H5Fget_filesize(file, &file_bytes), "reading the size of the file");
  return file_bytes * most_deflation;
}

}  // namespace

Dataset open_dataset(hid_t file, const std::string& path) { return open_member(file, "", path); }

std::optional<Dataset> find_member(hid_t group, const std::string& group_path,
                                   const std::string& name) {
  const std::string path = group_path + name;
  if (!hdf5::has_link(group, name, group_path)) return std::nullopt;
  Handle id(H5Dopen2(group, name.c_str(), H5P_DEFAULT), H5Dclose, "opening " + path);
  Handle creation(H5Dget_create_plist(id), H5Pclose, "reading the layout of " + path);
  require_valid(H5Pget_layout(creation) != H5D_VIRTUAL && H5Pget_external_count(creation) == 0,
                path, "keeps its values in another file");
  require_valid(are_known(filters_of(creation)), path, "has filters that sonde does not use");
  return Dataset{std::move(id), std::move(creation)};
}

Dataset open_member(hid_t group, const std::string& group_path, const std::string& name) {
  std::optional<Dataset> found = find_member(group, group_path, name);
  require_valid(found.has_value(), group_path + name, "is missing");
  return std::move(*found);
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

std::uint64_t read_chunk_rows(const Dataset& dataset, const std::string& path) {
  const std::vector<H5Z_filter_t> own{H5Z_FILTER_FLETCHER32, H5Z_FILTER_SHUFFLE,
                                      H5Z_FILTER_DEFLATE};
  if (H5Pget_layout(dataset.creation) != H5D_CHUNKED || filters_of(dataset.creation) != own)
    return 0;
  hsize_t rows = 0;
  check(H5Pget_chunk(dataset.creation, 1, &rows), "reading the size of the chunks of " + path);
  return rows;
}

std::vector<std::uint8_t> read_constant(const Dataset& dataset, hid_t type,
                                        const std::string& path) {
  if (!is_constant(dataset)) return {};
  require_valid(H5Tget_size(type) <= most_header_bytes, path, "has a value of unusable length");
  std::vector<std::uint8_t> value(H5Tget_size(type));
  check(H5Pget_fill_value(dataset.creation, type, value.data()), "reading the value of " + path);
  return value;
}

void require_whole(const Dataset& dataset, const std::string& path, std::uint64_t rows,
                   std::size_t element_bytes) {
  if (rows == 0) return;
  const std::uint64_t most_bytes = is_chunked(dataset)
                                       ? require_chunks(dataset, path, rows, element_bytes)
                                   : is_constant(dataset) ? most_constant_bytes(dataset, path)
                                                          : require_stored(dataset, path);
  require_valid(rows <= most_bytes / element_bytes, path,
                fmt::format("claims {} elements of {} bytes, more than the file can hold", rows,
                            element_bytes));
}

bool is_chunked(const Dataset& dataset) { return H5Pget_layout(dataset.creation) == H5D_CHUNKED; }

std::vector<std::uint8_t> read_chunk(const Dataset& dataset, const std::string& path,
                                     std::uint64_t row) {
  const hsize_t first = row;
  unsigned skipped_filters = 0;
  haddr_t address = HADDR_UNDEF;
  hsize_t bytes = 0;
  check(H5Dget_chunk_info_by_coord(dataset, &first, &skipped_filters, &address, &bytes),
        "looking for values of " + path);
  require_valid(address != HADDR_UNDEF && skipped_filters == 0, path, "lacks some of its values");
  std::vector<std::uint8_t> chunk(bytes);
  std::uint32_t filters = 0;
  check(H5Dread_chunk(dataset, H5P_DEFAULT, &first, &filters, chunk.data()), "reading " + path);
  return chunk;
}

PackedChunks read_chunks(const Dataset& dataset, const std::string& path, ElementType type,
                         std::size_t element_bytes, RowRange rows) {
  PackedChunks packed{path, type, element_bytes, 1, filters_of(dataset.creation), rows, {}};
  hsize_t chunk_rows = 0;
  check(H5Pget_chunk(dataset.creation, 1, &chunk_rows),
        "reading the size of the chunks of " + path);
  packed.chunk_rows = chunk_rows;
  for (std::uint64_t row = rows.offset / chunk_rows * chunk_rows; row < rows.offset + rows.length;
       row += chunk_rows) {
    packed.chunks.push_back(read_chunk(dataset, path, row));
  }
  return packed;
}

}  // namespace sonde
