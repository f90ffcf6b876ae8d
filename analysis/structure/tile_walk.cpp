// Every rectangle is tried.
#include "analysis/structure/tile_walk.hpp"

namespace sonde {
namespace {

constexpr double least_agreement = 0.9;  // the rest: slow hits

std::uint64_t misses_in(const TexelMisses& visit, std::size_t top, std::size_t left,
                        const TexelBlock& block) {
  std::uint64_t misses = 0;
  for (std::size_t row = top; row < top + block.rows; ++row) {
    for (std::size_t column = left; column < left + block.columns; ++column) {
      misses += visit.missed[row * visit.columns + column];
    }
  }
  return misses;
}

TexelBlock try_block(const TexelMisses& visit, std::size_t rows, std::size_t columns) {
  TexelBlock block{rows, columns, 0, 0};
  std::uint64_t single = 0;
  for (std::size_t top = 0; top < visit.rows; top += rows) {
    for (std::size_t left = 0; left < visit.columns; left += columns) {
      ++block.observations;
      single += misses_in(visit, top, left, block) == 1;
    }
  }
  block.agreement = static_cast<double>(single) / static_cast<double>(block.observations);
  return block;
}

}  // namespace

std::optional<TexelBlock> find_texel_block(const TexelMisses& visit) {
  std::optional<TexelBlock> best;
  for (std::size_t rows = 1; rows <= visit.rows; rows *= 2) {
    for (std::size_t columns = 1; columns <= visit.columns; columns *= 2) {
      if (rows == visit.rows && columns == visit.columns) continue;
      const TexelBlock block = try_block(visit, rows, columns);
      if (block.agreement < least_agreement) continue;
      if (!best || block.agreement > best->agreement) best = block;
    }
  }
  return best;
}

}  // namespace sonde
