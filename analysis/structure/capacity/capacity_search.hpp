// The search for the largest footprint that still fits: one question, asked as few times as
// possible. Used for the sizes of caches and the reach of TLBs alike.
#pragma once

#include <cstdint>
#include <functional>

namespace sonde {

enum class Fit { fits, overflows };

struct CapacityLimits {
  std::uint64_t step_bytes = 0;   // every footprint asked for is a multiple of this
  std::uint64_t start_bytes = 0;  // where doubling begins
  std::uint64_t limit_bytes = 0;  // the largest footprint that can be asked for
  double relative_precision = 0;  // stop when the bracket is this narrow; 0: one step
};

/// The bracket around the bound. A bound of 0 was never met: nothing fitted, or all did.
struct CapacityBound {
  std::uint64_t fitting_bytes = 0;
  std::uint64_t overflowing_bytes = 0;
  bool operator==(const CapacityBound&) const = default;
};

/// Doubles from the start (or halves, if that overflows already) until the answer changes, then
/// bisects. @pre step_bytes > 0. Where the answers are not monotone one of the changes is found.
CapacityBound find_capacity_bound(const CapacityLimits& limits,
                                  const std::function<Fit(std::uint64_t bytes)>& ask);

/// The same where the bound ought to lie about where `seen` has it: asks at both of its ends, and
/// goes outwards in doubled steps if it lies beyond one of them. limits.start_bytes does not count.
/// @pre seen.fitting_bytes < seen.overflowing_bytes
CapacityBound find_capacity_bound_near(const CapacityLimits& limits, const CapacityBound& seen,
                                       const std::function<Fit(std::uint64_t bytes)>& ask);

/// Bisects between a footprint known to fit and one known to overflow.
CapacityBound narrow_capacity_bound(const CapacityLimits& limits, CapacityBound bound,
                                    const std::function<Fit(std::uint64_t bytes)>& ask);

}  // namespace sonde
