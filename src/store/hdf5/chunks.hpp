// Packs and unpacks chunks of compressed columns in several threads. HDF5 itself packs one chunk
// after the other, which would delay the end of a run.
#pragma once

#include "store/hdf5/hdf5.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace sonde {

/// The layout of a compressed column, with the filters shuffle (not for single bytes) and deflate.
struct ChunkLayout {
  std::size_t element_bytes = 1;
  std::uint64_t rows = 1;  // of a whole chunk
};

/// The fastest level of deflate. After shuffle, higher levels save less than 5 % on traces.
constexpr unsigned deflate_level = 1;

/// Writes elements to the rows of a column from `first` on.
/// @pre `first` begins a chunk; the last element ends a chunk or the column
/// @param threads the most that pack at the same time  @throws StoreError
void write_chunks(hid_t dataset, const ChunkLayout& layout, std::uint64_t first,
                  std::span<const std::byte> elements, std::size_t threads);

/// Reads rows of a column, from `first` on, until `elements` is full.
/// @throws StoreError if a chunk is not as write_chunks writes it
void read_chunks(hid_t dataset, const ChunkLayout& layout, std::uint64_t first,
                 std::span<std::byte> elements);

/// One thread per core, up to a number beyond which there is no gain.
std::size_t packing_threads();

}  // namespace sonde
