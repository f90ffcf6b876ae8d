// Granularities from the pattern of missing positions along ascending addresses: what one miss
// brings (distance between misses of a first access), and what is lost together.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace sonde {

/// A block size with the share of observations that agree with it.
struct BlockSize {
  std::uint64_t bytes = 0;
  double agreement = 0;  // 0..1
  std::uint64_t observations = 0;
};

/// Positions lie `step_bytes` apart, ascending, accessed for the first time: the commonest distance
/// between neighbouring misses is what one miss brings (Mei and Chu 2016, section 4.2, step 2).
/// nullopt with fewer than two misses.
std::optional<BlockSize> miss_distance(const std::vector<bool>& missing, std::uint64_t step_bytes);

/// The largest power-of-two block, aligned, such that positions of one block all miss or all hit
/// in at least 90 % of the blocks with a miss. nullopt if nothing or everything misses: then any
/// block would do.
std::optional<BlockSize> common_fate_block(const std::vector<bool>& missing,
                                           std::uint64_t step_bytes, std::uint64_t limit_bytes);

}  // namespace sonde
