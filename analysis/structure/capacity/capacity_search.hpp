// Searches the largest footprint that still fits (cache size, TLB reach) with few questions.
#pragma once

#include <cstdint>
#include <functional>

namespace sonde {

enum class Fit { fits, overflows };

struct CapacityLimits {
  std::uint64_t step_bytes = 0;   // every footprint that is asked for is a multiple of this
  std::uint64_t start_bytes = 0;  // where doubling begins
  std::uint64_t limit_bytes = 0;  // the largest footprint
  double relative_precision = 0;  // stop when the bracket is this narrow; 0: one step
};

/// The bracket around the bound. 0: no footprint fitted, or none overflowed.
struct CapacityBound {
  std::uint64_t fitting_bytes = 0;
  std::uint64_t overflowing_bytes = 0;
  bool operator==(const CapacityBound&) const = default;
};

/// Doubles from the start (or halves, if the start overflows) until the answer changes, then
/// bisects. If the answers are not monotone, finds one of the changes. @pre step_bytes > 0
CapacityBound find_capacity_bound(const CapacityLimits& limits,
                                  const std::function<Fit(std::uint64_t bytes)>& ask);

/// The same with an expected bound `seen`: asks at both of its ends, and goes outwards in doubling
/// steps if the bound lies outside. Ignores limits.start_bytes.
/// @pre seen.fitting_bytes < seen.overflowing_bytes
CapacityBound find_capacity_bound_near(const CapacityLimits& limits, const CapacityBound& seen,
                                       const std::function<Fit(std::uint64_t bytes)>& ask);

/// Bisects between a footprint that fits and one that overflows.
CapacityBound narrow_capacity_bound(const CapacityLimits& limits, CapacityBound bound,
                                    const std::function<Fit(std::uint64_t bytes)>& ask);

}  // namespace sonde
