// Joins what was reckoned of a metric with the values of the devices.
#include "analysis/report/compared_metrics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <set>
#include <string_view>

namespace sonde {
namespace {

double largest_fraction(const MetricStatistics& statistics) {
  double largest = 0;
  for (const Standing& standing : statistics.furthest) {
    if (std::isfinite(standing.deviation_fraction)) {
      largest = std::max(largest, std::abs(standing.deviation_fraction));
    }
  }
  return largest;
}

/// What says more of a method's scatter than of the devices is left out.
bool is_compared(const FleetAnalysis& analysis, const MetricStatistics& statistics) {
  const Metric* metric = find_metric(statistics.metric, analysis.registry);
  const bool says_something = metric == nullptr || metric->not_compared.empty();
  return says_something && statistics.kind == MetricKind::continuous && statistics.n > 1 &&
         largest_fraction(statistics) > 0;
}

}  // namespace

std::vector<ComparedMetric> compared_metrics(const RunResult& run, const FleetAnalysis& analysis) {
  std::set<std::string_view> names;
  for (const MetricStatistics& statistics : analysis.statistics) {
    if (is_compared(analysis, statistics)) names.insert(statistics.metric);
  }
  std::vector<Metric> registry;
  std::ranges::copy_if(analysis.registry, std::back_inserter(registry),
                       [&](const Metric& metric) { return names.contains(metric.name); });
  std::vector<Series> all;
  for_each_series(run, analysis.groups, {.registry = registry},
                  [&all](Series series) { all.push_back(std::move(series)); });
  std::vector<ComparedMetric> compared;
  for (const MetricStatistics& statistics : analysis.statistics) {
    if (!is_compared(analysis, statistics)) continue;
    const auto series = std::ranges::find_if(all, [&](const Series& one) {
      return one.metric == statistics.metric && one.summary == statistics.summary &&
             one.group == statistics.group;
    });
    if (series == all.end() || !(series->reference_at(statistics.median) > 0)) continue;
    compared.push_back({&statistics, std::move(*series)});
  }
  std::ranges::stable_sort(compared, std::greater{}, [](const ComparedMetric& one) {
    return largest_fraction(*one.statistics);
  });
  return compared;
}

bool is_blamed(const FleetAnalysis& analysis, std::size_t device,
               const MetricStatistics& statistics) {
  const std::string title = title_of(statistics);  // as findings name it; those of one SM do not
  const auto& own = analysis.verdicts[device].charges;
  return std::ranges::any_of(own, [&](std::size_t i) {
    const Charge& finding = analysis.charges[i];
    return finding.severity != Severity::info &&
           (finding.metric == title || finding.metric == statistics.metric);
  });
}

std::string title_of(const MetricStatistics& statistics) {
  return statistics.summary.empty() ? statistics.metric
                                    : fmt::format("{} ({})", statistics.metric, statistics.summary);
}

}  // namespace sonde
