// Doubling, then bisection.
#include "analysis/structure/capacity/capacity_search.hpp"

#include <algorithm>
#include <bit>

namespace sonde {
namespace {

bool is_narrow(const CapacityLimits& limits, const CapacityBound& bound) {
  const std::uint64_t width = bound.overflowing_bytes - bound.fitting_bytes;
  return width <= limits.step_bytes ||
         static_cast<double>(width) <=
             limits.relative_precision * static_cast<double>(bound.overflowing_bytes);
}

}  // namespace

CapacityBound narrow_capacity_bound(const CapacityLimits& limits, CapacityBound bound,
                                    const std::function<Fit(std::uint64_t bytes)>& ask) {
  while (!is_narrow(limits, bound)) {
    const std::uint64_t steps = (bound.overflowing_bytes - bound.fitting_bytes) / limits.step_bytes;
    const std::uint64_t middle = bound.fitting_bytes + steps / 2 * limits.step_bytes;
    (ask(middle) == Fit::fits ? bound.fitting_bytes : bound.overflowing_bytes) = middle;
  }
  return bound;
}

CapacityBound find_capacity_bound(const CapacityLimits& limits,
                                  const std::function<Fit(std::uint64_t bytes)>& ask) {
  const std::uint64_t step = limits.step_bytes;
  const std::uint64_t limit = limits.limit_bytes / step * step;
  std::uint64_t size = std::clamp(limits.start_bytes / step * step, step, std::max(step, limit));
  CapacityBound bound;
  if (ask(size) == Fit::fits) {
    bound.fitting_bytes = size;
    while (bound.overflowing_bytes == 0 && size < limit) {
      size = std::min(size * 2, limit);
      (ask(size) == Fit::fits ? bound.fitting_bytes : bound.overflowing_bytes) = size;
    }
    if (bound.overflowing_bytes == 0) return bound;
  } else {
    bound.overflowing_bytes = size;
    while (bound.fitting_bytes == 0 && size > step) {
      size = std::max(size / 2 / step * step, step);
      (ask(size) == Fit::fits ? bound.fitting_bytes : bound.overflowing_bytes) = size;
    }
    if (bound.fitting_bytes == 0) return bound;
  }
  return narrow_capacity_bound(limits, bound, ask);
}

CapacityBound find_capacity_bound_near(const CapacityLimits& limits, const CapacityBound& seen,
                                       const std::function<Fit(std::uint64_t bytes)>& ask) {
  const std::uint64_t step = limits.step_bytes;
  const std::uint64_t limit = std::max(step, limits.limit_bytes / step * step);
  std::uint64_t width = (seen.overflowing_bytes - seen.fitting_bytes + step - 1) / step * step;
  std::uint64_t size = std::clamp(seen.fitting_bytes / step * step, step, limit);
  CapacityBound bound;
  if (ask(size) == Fit::fits) {
    bound.fitting_bytes = size;
    for (; bound.overflowing_bytes == 0 && size < limit; width *= 2) {
      size = std::min(size + width, limit);
      (ask(size) == Fit::fits ? bound.fitting_bytes : bound.overflowing_bytes) = size;
    }
    if (bound.overflowing_bytes == 0) return bound;
  } else {
    bound.overflowing_bytes = size;
    for (; bound.fitting_bytes == 0 && size > step; width *= 2) {
      size = size > width + step ? size - width : step;
      (ask(size) == Fit::fits ? bound.fitting_bytes : bound.overflowing_bytes) = size;
    }
    if (bound.fitting_bytes == 0) return bound;
  }
  return narrow_capacity_bound(limits, bound, ask);
}

}  // namespace sonde
