// The table behind analysis/metrics.hpp: one row per metric, grouped by job.
#include "analysis/metrics.hpp"

#include <algorithm>
#include <array>

namespace sonde {
namespace {

using enum MetricKind;
using enum Better;

constexpr std::array metrics{
    Metric{"clock.overhead_cycles", "cycle", continuous, neither, "clock",
           "two clock reads back to back", "Mei and Chu 2016, section 4.2"},
};

}  // namespace

std::span<const Metric> all_metrics() { return metrics; }

const Metric* find_metric(std::string_view name) {
  const auto* found = std::find_if(metrics.begin(), metrics.end(),
                                   [name](const Metric& metric) { return metric.name == name; });
  return found == metrics.end() ? nullptr : found;
}

}  // namespace sonde
