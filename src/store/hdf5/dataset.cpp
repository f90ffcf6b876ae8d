// What HDF5 says of a dataset before any of its values is read.
#include "store/hdf5/dataset.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <new>
#include <optional>
#include <span>
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
constexpr std::size_t checksum_bytes = 4;
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

/// How many bytes a deflated chunk has when it is unpacked; nothing if it is damaged, or has more
/// than `most`.
std::optional<std::uint64_t> inflated_bytes(std::span<Bytef> packed, std::uint64_t most) {
  z_stream stream{};
  if (inflateInit(&stream) != Z_OK) throw std::bad_alloc();
  stream.next_in = packed.data();
  stream.avail_in = static_cast<uInt>(packed.size());
  std::vector<Bytef> part(std::size_t{64} << 10);
  int status = Z_OK;
  while (status == Z_OK && stream.total_out <= most) {
    stream.next_out = part.data();
    stream.avail_out = static_cast<uInt>(part.size());
    status = inflate(&stream, Z_NO_FLUSH);
  }
  const std::uint64_t bytes = stream.total_out;
  inflateEnd(&stream);
  return status == Z_STREAM_END && bytes <= most ? std::optional(bytes) : std::nullopt;
}

struct Chunks {
  hsize_t rows = 0;  // of each
  std::uint64_t bytes = 0;
  std::vector<H5Z_filter_t> filters;
};

/// A chunk that does not unpack to exactly its size would make HDF5 1.10 read beyond the end of
/// its memory; one that is missing would be read as whatever memory held.
void require_chunk(hid_t dataset, const std::string& path, const Chunks& chunks, hsize_t first) {
  unsigned skipped_filters = 0;
  haddr_t address = HADDR_UNDEF;
  hsize_t stored_bytes = 0;
  check(H5Dget_chunk_info_by_coord(dataset, &first, &skipped_filters, &address, &stored_bytes),
        "looking for values of " + path);
  require_valid(address != HADDR_UNDEF && skipped_filters == 0, path, "lacks some of its values");
  const auto begin = chunks.filters.begin();
  const auto deflate = std::ranges::find(chunks.filters, H5Z_FILTER_DEFLATE);
  const auto sum = std::ranges::find(chunks.filters, H5Z_FILTER_FLETCHER32);
  const std::uint64_t sum_bytes = sum != chunks.filters.end() ? checksum_bytes : 0;
  std::optional<std::uint64_t> unpacked_bytes = stored_bytes;
  if (deflate != chunks.filters.end() && stored_bytes >= sum_bytes) {
    std::vector<Bytef> packed(stored_bytes);
    std::uint32_t filters = 0;
    check(H5Dread_chunk(dataset, H5P_DEFAULT, &first, &filters, packed.data()), "reading " + path);
    const std::uint64_t behind = sum - begin > deflate - begin ? sum_bytes : 0;
    unpacked_bytes = inflated_bytes(std::span(packed).first(stored_bytes - behind),
                                    chunks.bytes + checksum_bytes);
    if (unpacked_bytes) *unpacked_bytes += behind;
  }
  require_valid(unpacked_bytes == chunks.bytes + sum_bytes, path, "has a damaged chunk");
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
                             std::size_t element_bytes, RowRange range) {
  Chunks chunks{.filters = filters_of(dataset.creation)};
  require_valid(H5Pget_chunk(dataset.creation, 1, &chunks.rows) == 1 && chunks.rows > 0, path,
                "has unusable chunks");
  require_valid(chunks.rows == 1 || chunks.rows <= most_chunk_bytes / element_bytes, path,
                fmt::format("has chunks of {} elements, more than sonde takes", chunks.rows));
  chunks.bytes = chunks.rows * element_bytes;
  const Handle space(H5Dget_space(dataset), H5Sclose, "reading the size of " + path);
  hsize_t count = 0;
  check(H5Dget_num_chunks(dataset, space, &count), "counting the chunks of " + path);
  require_valid(count == rows / chunks.rows + (rows % chunks.rows != 0) && count <= most_chunks,
                path, fmt::format("has {} chunks, too few or too many", count));
  const std::uint64_t stored_bytes = require_stored(dataset, path);
  if (range.length > 0) {
    for (hsize_t i = range.offset / chunks.rows; i * chunks.rows < range.offset + range.length;
         ++i) {
      require_chunk(dataset, path, chunks, i * chunks.rows);
    }
  }
  const bool deflated =
      std::ranges::find(chunks.filters, H5Z_FILTER_DEFLATE) != chunks.filters.end();
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

Dataset open_member(hid_t group, const std::string& group_path, const std::string& name) {
  const std::string path = group_path + name;
  require_valid(hdf5::has_link(group, name, group_path), path, "is missing");
  Handle id(H5Dopen2(group, name.c_str(), H5P_DEFAULT), H5Dclose, "opening " + path);
  Handle creation(H5Dget_create_plist(id), H5Pclose, "reading the layout of " + path);
  require_valid(H5Pget_layout(creation) != H5D_VIRTUAL && H5Pget_external_count(creation) == 0,
                path, "keeps its values in another file");
  require_valid(are_known(filters_of(creation)), path, "has filters that sonde does not use");
  return {std::move(id), std::move(creation)};
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
                   std::size_t element_bytes, RowRange range, Writer writer) {
  if (rows == 0) return;
  if (writer == Writer::this_run) range.length = 0;
  const std::uint64_t most_bytes = H5Pget_layout(dataset.creation) == H5D_CHUNKED
                                       ? require_chunks(dataset, path, rows, element_bytes, range)
                                   : is_constant(dataset) ? most_constant_bytes(dataset, path)
                                                          : require_stored(dataset, path);
  require_valid(rows <= most_bytes / element_bytes, path,
                fmt::format("claims {} elements of {} bytes, more than the file can hold", rows,
                            element_bytes));
}

}  // namespace sonde
