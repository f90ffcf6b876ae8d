// The last block before the share of misses falls for good.
#include "analysis/structure/capacity/entry_blocks.hpp"

namespace sonde {

bool misses_as_often(double missing_share, double other_share) {
  constexpr double falling_fraction = 0.6;
  return missing_share >= falling_fraction * other_share;
}

std::optional<std::size_t> doublings_to_entry(const std::vector<double>& missing_shares) {
  constexpr double notable_share = 0.2;
  // Of smaller blocks all miss, unless victims are drawn at random or new entries leave first.
  constexpr double nearly_all = 0.95;
  // Half as many blocks as the level has entries overfill sets by chance, of one way with half of
  // them; then a quarter as many overfill some, too.
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
