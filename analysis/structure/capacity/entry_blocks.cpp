// The last block before the share of misses falls for good.
#include "analysis/structure/capacity/entry_blocks.hpp"

namespace sonde {

std::size_t doublings_to_entry(const std::vector<double>& missing_shares) {
  constexpr double falling_fraction = 0.6;
  constexpr double notable_share = 0.2;
  std::size_t entry = 0;
  for (std::size_t block = 1; block < missing_shares.size(); ++block) {
    const double share = missing_shares[block];
    const bool falls = share < falling_fraction * missing_shares[block - 1];
    const bool stays_there = share >= notable_share && block + 1 < missing_shares.size() &&
                             missing_shares[block + 1] >= falling_fraction * share;
    if (falls && !stays_there) break;
    entry = block;
  }
  return entry;
}

}  // namespace sonde
