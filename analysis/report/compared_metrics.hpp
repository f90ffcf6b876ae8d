// Metrics whose numbers the report compares over a group, as the charts of a fleet draw them.
#pragma once

#include "analysis/fleet/fleet.hpp"
#include "analysis/fleet/series.hpp"

#include <string>
#include <vector>

namespace sonde {

struct ComparedMetric {
  const MetricStatistics* statistics = nullptr;  // of FleetAnalysis, as long as that lives
  Series series;                                 // with a reference above 0
};

/// Continuous metrics that devices are compared by, and summaries of per-SM maps, in which a device
/// of the group is out; the one with the largest fraction of the median first.
std::vector<ComparedMetric> compared_metrics(const RunResult& run, const FleetAnalysis& analysis);

/// Whether the device has a finding of some weight about it.
bool is_blamed(const FleetAnalysis& analysis, std::size_t device,
               const MetricStatistics& statistics);

/// "global.read_bytes_per_s", "placement.l1_latency_cycles (median)".
std::string title_of(const MetricStatistics& statistics);

}  // namespace sonde
