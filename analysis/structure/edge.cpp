// Doubling, then bisection.
#include "analysis/structure/edge.hpp"

#include <algorithm>
#include <bit>

#include <algorithm>

namespace sonde {
namespace {

bool is_narrow(const EdgeLimits& limits, const Edge& edge) {
  const std::uint64_t width = edge.overflowing_bytes - edge.fitting_bytes;
  return width <= limits.step_bytes ||
         static_cast<double>(width) <=
             limits.relative_precision * static_cast<double>(edge.overflowing_bytes);
}

}  // namespace

Edge narrow_edge(const EdgeLimits& limits, Edge edge,
                 const std::function<Fit(std::uint64_t bytes)>& ask) {
  while (!is_narrow(limits, edge)) {
    const std::uint64_t steps = (edge.overflowing_bytes - edge.fitting_bytes) / limits.step_bytes;
    const std::uint64_t middle = edge.fitting_bytes + steps / 2 * limits.step_bytes;
    (ask(middle) == Fit::fits ? edge.fitting_bytes : edge.overflowing_bytes) = middle;
  }
  return edge;
}

Edge find_edge(const EdgeLimits& limits, const std::function<Fit(std::uint64_t bytes)>& ask) {
  const std::uint64_t step = limits.step_bytes;
  const std::uint64_t limit = limits.limit_bytes / step * step;
  std::uint64_t size = std::clamp(limits.start_bytes / step * step, step, std::max(step, limit));
  Edge edge;
  if (ask(size) == Fit::fits) {
    edge.fitting_bytes = size;
    while (edge.overflowing_bytes == 0 && size < limit) {
      size = std::min(size * 2, limit);
      (ask(size) == Fit::fits ? edge.fitting_bytes : edge.overflowing_bytes) = size;
    }
    if (edge.overflowing_bytes == 0) return edge;
  } else {
    edge.overflowing_bytes = size;
    while (edge.fitting_bytes == 0 && size > step) {
      size = std::max(size / 2 / step * step, step);
      (ask(size) == Fit::fits ? edge.fitting_bytes : edge.overflowing_bytes) = size;
    }
    if (edge.fitting_bytes == 0) return edge;
  }
  return narrow_edge(limits, edge, ask);
}

std::uint64_t round_soft_size(std::uint64_t size_bytes) {
  const std::uint64_t resolution_bytes =
      std::max<std::uint64_t>(1, std::bit_floor(size_bytes) / 16);
  return size_bytes / resolution_bytes * resolution_bytes;
}

}  // namespace sonde
