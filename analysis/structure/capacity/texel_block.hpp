// Which texels of a two-dimensional texture one miss brings, from a first access to a square of
// them.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace sonde {

/// A first access to texels, row by row.
struct TexelMisses {
  std::size_t rows = 0;      // a power of two
  std::size_t columns = 0;   // likewise
  std::vector<bool> missed;  // [row * columns + column]
};

/// A rectangle of texels that arrive together.
struct TexelBlock {
  std::size_t rows = 0;
  std::size_t columns = 0;
  double agreement = 0;  // share of the blocks in the square that missed exactly once
  std::uint64_t observations = 0;
};

/// The rectangle, of powers of two, that parts the square into blocks of exactly one miss each.
/// nullopt if no rectangle does so for nine tenths of its blocks, or only the whole square would.
std::optional<TexelBlock> find_texel_block(const TexelMisses& texels);

}  // namespace sonde
