// Chunks of compressed columns, packed and unpacked here by several threads: HDF5 itself packs one
// after the other, and a run ends with the packing of its traces.
#pragma once

#include "store/hdf5/hdf5.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace sonde {

/// How a compressed column is laid out: HDF5's filters shuffle (for elements of several bytes) and
/// deflate, and no other.
struct ChunkLayout {
  std::size_t element_bytes = 1;
  std::uint64_t rows = 1;  // of a whole chunk
};

/// The fastest level of deflate: with shuffle before it, higher ones gained below 5 % on traces.
constexpr unsigned deflate_level = 1;

/// Writes elements of a column, which become its rows from `first` on.
/// @pre `first` begins a chunk; the elements end one or the column
/// @param threads at most so many pack at the same time  @throws StoreError
void write_chunks(hid_t dataset, const ChunkLayout& layout, std::uint64_t first,
                  std::span<const std::byte> elements, std::size_t threads);

/// Reads rows of a column, from `first` on, as many as there is room for in `elements`.
/// @throws StoreError if a chunk is not what write_chunks gives
void read_chunks(hid_t dataset, const ChunkLayout& layout, std::uint64_t first,
                 std::span<std::byte> elements);

/// As many threads as this process has cores, but no more than gain anything.
std::size_t packing_threads();

}  // namespace sonde
