// Every rectangle of powers of two is tried.
#include "analysis/structure/capacity/texel_block.hpp"

namespace sonde {
namespace {

constexpr double least_agreement = 0.9;  // the rest: outliers

std::uint64_t misses_in(const TexelMisses& texels, std::size_t top, std::size_t left,
                        const TexelBlock& block) {
  std::uint64_t misses = 0;
  for (std::size_t row = top; row < top + block.rows; ++row) {
    for (std::size_t column = left; column < left + block.columns; ++column) {
      misses += texels.missed[row * texels.columns + column];
    }
  }
  return misses;
}

TexelBlock try_block(const TexelMisses& texels, std::size_t rows, std::size_t columns) {
  TexelBlock block{.rows = rows, .columns = columns};
  std::uint64_t single = 0;
  for (std::size_t top = 0; top < texels.rows; top += rows) {
    for (std::size_t left = 0; left < texels.columns; left += columns) {
      ++block.observations;
      single += misses_in(texels, top, left, block) == 1;
    }
  }
  block.agreement = static_cast<double>(single) / static_cast<double>(block.observations);
  return block;
}

}  // namespace

std::optional<TexelBlock> find_texel_block(const TexelMisses& texels) {
  std::optional<TexelBlock> best;
  for (std::size_t rows = 1; rows <= texels.rows; rows *= 2) {
    for (std::size_t columns = 1; columns <= texels.columns; columns *= 2) {
      if (rows == texels.rows && columns == texels.columns) continue;
      const TexelBlock block = try_block(texels, rows, columns);
      if (block.agreement < least_agreement) continue;
      if (!best || block.agreement > best->agreement) best = block;
    }
  }
  return best;
}

}  // namespace sonde
