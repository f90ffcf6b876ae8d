// Distances and aligned runs of misses.
#include "analysis/structure/capacity/miss_blocks.hpp"

#include <algorithm>
#include <map>

namespace sonde {
namespace {

/// Share of the blocks with a miss that miss as a whole.
BlockSize whole_blocks(const std::vector<bool>& missing, std::size_t block_positions) {
  BlockSize result;
  std::uint64_t whole = 0;
  for (std::size_t at = 0; at + block_positions <= missing.size(); at += block_positions) {
    const auto begin = missing.begin() + static_cast<std::ptrdiff_t>(at);
    const auto misses = static_cast<std::size_t>(
        std::count(begin, begin + static_cast<std::ptrdiff_t>(block_positions), true));
    if (misses > 0) ++result.observations;
    if (misses == block_positions) ++whole;
  }
  if (result.observations > 0) {
    result.agreement = static_cast<double>(whole) / static_cast<double>(result.observations);
  }
  return result;
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
      std::max_element(counts.begin(), counts.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  return BlockSize{commonest->first,
                   static_cast<double>(commonest->second) / static_cast<double>(distances),
                   distances};
}

std::optional<BlockSize> common_fate_block(const std::vector<bool>& missing,
                                           std::uint64_t step_bytes, std::uint64_t limit_bytes) {
  const auto misses = std::count(missing.begin(), missing.end(), true);
  if (misses == 0 || misses == static_cast<std::ptrdiff_t>(missing.size())) return std::nullopt;
  constexpr double least_agreement = 0.9;  // the rest: outliers, and lines evicted while walking
  std::optional<BlockSize> best;
  for (std::size_t positions = 1; positions * step_bytes <= limit_bytes; positions *= 2) {
    BlockSize block = whole_blocks(missing, positions);
    if (block.observations == 0 || block.agreement < least_agreement) break;
    block.bytes = positions * step_bytes;
    best = block;
  }
  return best;
}

}  // namespace sonde
