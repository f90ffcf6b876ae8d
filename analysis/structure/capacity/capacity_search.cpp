// Doubles, then bisects.
#include "analysis/structure/capacity/capacity_search.hpp"

#include <algorithm>
#include <utility>

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

namespace {

/// Asks at `size`, then at larger sizes (or at smaller ones, if `size` overflows) until the answer
/// changes.
/// @param beyond, below give the next size, which is then clamped to the limits
CapacityBound find_bracket(const CapacityLimits& limits, std::uint64_t size,
                           const std::function<std::uint64_t(std::uint64_t size)>& beyond,
                           const std::function<std::uint64_t(std::uint64_t size)>& below,
                           const std::function<Fit(std::uint64_t bytes)>& ask) {
  const std::uint64_t step = limits.step_bytes;
  const std::uint64_t limit = std::max(step, limits.limit_bytes / step * step);
  size = std::clamp(size / step * step, step, limit);
  CapacityBound bound;
  const auto ask_at = [&](std::uint64_t bytes) {
    (ask(bytes) == Fit::fits ? bound.fitting_bytes : bound.overflowing_bytes) = size = bytes;
  };
  ask_at(size);
  if (bound.fitting_bytes > 0) {
    while (bound.overflowing_bytes == 0 && size < limit) ask_at(std::min(beyond(size), limit));
  } else {
    while (bound.fitting_bytes == 0 && size > step) ask_at(std::max(below(size), step));
  }
  const bool is_met = bound.fitting_bytes > 0 && bound.overflowing_bytes > 0;
  return is_met ? narrow_capacity_bound(limits, bound, ask) : bound;
}

}  // namespace

CapacityBound find_capacity_bound(const CapacityLimits& limits,
                                  const std::function<Fit(std::uint64_t bytes)>& ask) {
  const std::uint64_t step = limits.step_bytes;
  return find_bracket(
      limits, limits.start_bytes, [](std::uint64_t size) { return size * 2; },
      [=](std::uint64_t size) { return size / 2 / step * step; }, ask);
}

CapacityBound find_capacity_bound_near(const CapacityLimits& limits, const CapacityBound& seen,
                                       const std::function<Fit(std::uint64_t bytes)>& ask) {
  const std::uint64_t step = limits.step_bytes;
  std::uint64_t width = (seen.overflowing_bytes - seen.fitting_bytes + step - 1) / step * step;
  const auto doubled = [&width] { return std::exchange(width, 2 * width); };
  return find_bracket(
      limits, seen.fitting_bytes, [&](std::uint64_t size) { return size + doubled(); },
      [&](std::uint64_t size) { return size - std::min(size, doubled()); }, ask);
}

}  // namespace sonde
