// Chunks of a column as they lie in the file, and what they hold. HDF5 would unpack them, too, but
// one after the other, and some versions believe what damaged ones say of their size.
#pragma once

#include "store/hdf5/table.hpp"

#include <hdf5.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace sonde {

/// Rows of a column in the chunks that hold them.
struct PackedChunks {
  std::string path;  // of the column, for messages
  ElementType type = ElementType::u64;
  std::size_t element_bytes = 1;
  std::uint64_t chunk_rows = 1;
  std::vector<H5Z_filter_t> filters;  // shuffle, deflate, Fletcher32, in the order of writing
  RowRange rows;                      // of the column
  std::vector<std::vector<std::uint8_t>> chunks;  // from that of the first row on
};

/// What the rows of a chunk go through on their way into a file, behind the checksum that all have.
struct ChunkFilters {
  bool shuffle = false;
  int deflate_level = 0;  // 0: not packed
};

/// A chunk as HDF5 would write it. Calls nothing of HDF5.
std::vector<std::uint8_t> pack_chunk(std::span<const std::byte> rows, std::size_t element_bytes,
                                     ChunkFilters filters);

/// Its rows. Calls nothing of HDF5, so that several columns can be unpacked at a time.
/// @throws StoreError naming the column if a chunk does not have its size, or its checksum is
/// another
PackedColumn unpack_chunks(const PackedChunks& packed);

}  // namespace sonde
