// What one miss brings, from the distance between misses of a first access along ascending
// addresses.
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

}  // namespace sonde
