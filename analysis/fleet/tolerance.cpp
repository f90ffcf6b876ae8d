// Tolerances of options and registry, and what replicates and the clock explain.
#include "analysis/fleet/tolerance.hpp"

#include "analysis/fleet/calibration.hpp"

#include <algorithm>
#include <cmath>

namespace sonde {
namespace {

/// @param usual where no option tells another
Tolerance tolerance_of(std::string_view metric, const Tolerance& usual,
                       const ReduceOptions& options) {
  const Tolerance* best = nullptr;
  for (const Tolerance& one : options.tolerances) {
    if (!metric.starts_with(one.prefix)) continue;
    if (best == nullptr || one.prefix.size() >= best->prefix.size()) best = &one;
  }
  return best != nullptr ? *best : usual;
}

}  // namespace

bool is_worse(Better better, double difference) {
  return (better == Better::lower && difference > 0) ||
         (better == Better::higher && difference < 0);
}

Tolerance tolerance_for(const Metric& metric, const ReduceOptions& options) {
  return tolerance_of(metric.name, {.prefix = "", .warn = metric.warn, .fail = metric.fail},
                      options);
}

Tolerance series_tolerance(const Series& series, const ReduceOptions& options) {
  Tolerance tolerance = tolerance_of(series.metric, series.tolerance, options);
  if (series.reference == 1) {
    tolerance.warn *= 2;
    tolerance.fail *= 2;
  }
  return tolerance;
}

double least_difference(const Series& series, double one_repeat, double other_repeat,
                        const ReduceOptions& options) {
  return std::max({std::max(one_repeat, other_repeat) / options.gage_limit,
                   options.within_factor * std::hypot(one_repeat, other_repeat),
                   1.5 * series.resolution});
}

double score_limit(std::size_t n, const ReduceOptions& options) {
  return n < least_scored_devices ? least_small_group_score : score_cut(n, options.false_alarm);
}

}  // namespace sonde
