// Tolerances of options and registry.
#include "analysis/fleet/tolerance.hpp"

#include <algorithm>
#include <cmath>

namespace sonde {
namespace {

// A search may end some lines early (seen: 2 of 245,760). What is broken on a GPU, a way, a set or
// a slice, is a larger part of a structure.
constexpr double search_error = 1e-3;

/// An edge that is gradual comes out a little elsewhere each time.
Interval widened(const Interval& interval, double tolerance) {
  const double part = interval.low == interval.high ? search_error : tolerance;
  const double margin = part / 2 * std::abs(interval.high);
  return {.low = interval.low - margin, .high = interval.high + margin};
}

}  // namespace

bool is_worse(Better better, double difference) {
  return (better == Better::lower && difference > 0) ||
         (better == Better::higher && difference < 0);
}

Tolerance tolerance_for(const Metric& metric, const ReduceOptions& options) {
  const Tolerance* best = nullptr;
  for (const Tolerance& one : options.tolerances) {
    if (!metric.name.starts_with(one.prefix)) continue;
    if (best == nullptr || one.prefix.size() >= best->prefix.size()) best = &one;
  }
  return best != nullptr ? *best
                         : Tolerance{.prefix = "", .warn = metric.warn, .fail = metric.fail};
}

double unexplained_fraction(const Metric& metric, double value, const Interval& expected,
                            double tolerance, double by_chance) {
  const double nearest = std::clamp(value, expected.low, expected.high);
  const double difference = value - nearest;
  const double least =
      std::max({tolerance * std::abs(nearest), metric.unit == "cycle" ? 1.5 : 0, by_chance});
  return nearest == 0 || std::abs(difference) < least ? 0 : difference / std::abs(nearest);
}

bool capacities_agree(const Interval& a, const Interval& b, double tolerance) {
  const Interval one = widened(a, tolerance);
  const Interval other = widened(b, tolerance);
  return one.low <= other.high && other.low <= one.high;
}

}  // namespace sonde
