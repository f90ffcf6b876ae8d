// Counts distances between neighbouring misses; for texels, tries every rectangle of powers of two.
#include "analysis/structure/capacity/miss_blocks.hpp"

#include <algorithm>
#include <map>

namespace sonde {
namespace {

constexpr double least_agreement = 0.9;  // the rest are outliers

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

std::optional<BlockSize> miss_distance(const std::vector<bool>& missing, std::uint64_t step_bytes) {
  std::map<std::uint64_t, std::uint64_t> counts;
  std::uint64_t distances = 0;
  std::optional<std::size_t> last;
  for (std::size_t i = 0; i < missing.size(); ++i) {
    if (!missing[i]) continue;
    if (last) {
      ++counts[(i - *last) * step_bytes];
      ++distances;
    }
    last = i;
  }
  if (counts.empty()) return std::nullopt;
  const auto commonest =
      std::ranges::max_element(counts, {}, [](const auto& count) { return count.second; });
  return BlockSize{
      .bytes = commonest->first,
      .agreement = static_cast<double>(commonest->second) / static_cast<double>(distances),
      .observations = distances};
}

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

bool misses_as_often(double missing_share, double other_share) {
  constexpr double falling_fraction = 0.6;
  return missing_share >= falling_fraction * other_share;
}

std::optional<std::size_t> doublings_to_entry(const std::vector<double>& missing_shares) {
  constexpr double notable_share = 0.2;
  // Smaller blocks all miss, unless replacement is random or the newest entries leave first.
  constexpr double nearly_all = 0.95;
  // Half as many blocks as entries overfill some sets by chance: with one way, half of the blocks.
  // A quarter as many then overfill some sets, too.
  constexpr double most_by_chance = 0.5;
  constexpr double hardly_any = 0.05;
  std::size_t entry = 0;
  for (std::size_t block = 1; block < missing_shares.size(); ++block) {
    const double share = missing_shares[block];
    const bool falls = !misses_as_often(share, missing_shares[block - 1]);
    const bool stays_there = share >= notable_share && block + 1 < missing_shares.size() &&
                             misses_as_often(missing_shares[block + 1], share);
    const bool not_by_chance = share >= notable_share && missing_shares[block - 1] < nearly_all;
    const bool falls_behind = share >= most_by_chance && block + 1 < missing_shares.size() &&
                              missing_shares[block + 1] < hardly_any;
    if (falls && !not_by_chance && !stays_there && !falls_behind) {
      const bool falls_slowly = share >= notable_share && block + 1 < missing_shares.size() &&
                                missing_shares[block + 1] >= hardly_any;
      if (falls_slowly) return std::nullopt;
      break;
    }
    entry = block;
  }
  return entry;
}

}  // namespace sonde
