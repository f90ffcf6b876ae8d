// What HDF5 says of a dataset before any of its values is read.
#include "store/dataset.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace sonde {
namespace {

using hdf5::check;
using hdf5::Handle;

// The most that deflate can shrink (zlib's technical notes: 1032 to 1).
constexpr std::uint64_t most_deflation = 1032;
// HDF5 unpacks whole chunks; sonde's have 512 KiB (table_file.cpp), others may choose more.
constexpr std::uint64_t most_chunk_bytes = 16 << 20;

void require_valid(bool valid, const std::string& path, const std::string& what) {
  if (!valid) throw StoreError(path + " " + what);
}

Handle creation_of(hid_t dataset, const std::string& path) {
  return Handle(H5Dget_create_plist(dataset), H5Pclose, "reading the layout of " + path);
}

/// How often a filter is in the pipeline; twice would unpack to the square of what once does.
int count_filter(hid_t creation, H5Z_filter_t wanted) {
  int found = 0;
  const int filters = H5Pget_nfilters(creation);
  for (int i = 0; i < filters; ++i) {
    unsigned flags = 0;
    unsigned config = 0;
    std::size_t values = 0;
    found += H5Pget_filter2(creation, static_cast<unsigned>(i), &flags, &values, nullptr, 0,
                            nullptr, &config) == wanted;
  }
  return found;
}

struct Stored {
  std::uint64_t bytes = 0;       // in the file
  std::uint64_t most_bytes = 0;  // that can come out of them
};

Stored stored_chunks(hid_t dataset, hid_t creation, const std::string& path, std::uint64_t rows,
                     std::size_t element_bytes) {
  hsize_t chunk = 0;
  require_valid(H5Pget_chunk(creation, 1, &chunk) == 1 && chunk > 0, path, "has unusable chunks");
  require_valid(chunk == 1 || chunk <= most_chunk_bytes / element_bytes, path,
                fmt::format("has chunks of {} elements, more than sonde takes", chunk));
  const Handle space(H5Dget_space(dataset), H5Sclose, "reading the size of " + path);
  hsize_t chunks = 0;
  check(H5Dget_num_chunks(dataset, space, &chunks), "counting the chunks of " + path);
  // A chunk that is missing would be read as whatever memory held.
  require_valid(chunks == rows / chunk + (rows % chunk != 0), path, "lacks some of its values");
  const std::uint64_t bytes = H5Dget_storage_size(dataset);
  const bool deflated = count_filter(creation, H5Z_FILTER_DEFLATE) > 0;
  return {bytes, deflated ? bytes * most_deflation : bytes};
}

}  // namespace

Handle open_dataset(hid_t file, const std::string& path) {
  require_valid(hdf5::has_link(file, path), path, "is missing");
  Handle dataset(H5Dopen2(file, path.c_str(), H5P_DEFAULT), H5Dclose, "opening " + path);
  const Handle creation = creation_of(dataset, path);
  require_valid(H5Pget_layout(creation) != H5D_VIRTUAL && H5Pget_external_count(creation) == 0,
                path, "keeps its values in another file");
  int known = 0;
  for (const H5Z_filter_t filter :
       {H5Z_FILTER_DEFLATE, H5Z_FILTER_SHUFFLE, H5Z_FILTER_FLETCHER32}) {
    known += std::min(count_filter(creation, filter), 1);
  }
  require_valid(H5Pget_nfilters(creation) == known, path, "has filters that sonde does not use");
  return dataset;
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

void require_whole(hid_t file, hid_t dataset, const std::string& path, std::uint64_t rows,
                   std::size_t element_bytes) {
  if (rows == 0) return;
  const Handle creation = creation_of(dataset, path);
  const std::uint64_t plain_bytes = H5Dget_storage_size(dataset);
  const Stored stored = H5Pget_layout(creation) == H5D_CHUNKED
                            ? stored_chunks(dataset, creation, path, rows, element_bytes)
                            : Stored{plain_bytes, plain_bytes};
  hsize_t file_bytes = 0;
  check(H5Fget_filesize(file, &file_bytes), "reading the size of the file");
  require_valid(stored.bytes <= file_bytes && rows <= stored.most_bytes / element_bytes, path,
                fmt::format("claims {} elements of {} bytes, more than the file can hold", rows,
                            element_bytes));
}

}  // namespace sonde
