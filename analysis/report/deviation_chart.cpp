// The chart of the metrics in which devices of a group differ most.
#include "analysis/fleet/value_text.hpp"
#include "analysis/report/charts.hpp"
#include "base/units.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

namespace sonde {
namespace {

constexpr std::size_t most_rows = 24;
constexpr std::size_t row_px = 20;

/// The group's median of a metric, for each device of the group.
struct Row {
  const MetricStatistics* statistics = nullptr;
  double largest_fraction = 0;
};

std::vector<Row> widest_rows(const FleetAnalysis& analysis) {
  std::vector<Row> rows;
  for (const MetricStatistics& statistics : analysis.statistics) {
    if (statistics.kind != MetricKind::continuous || statistics.n < 2) continue;
    double largest = 0;
    for (const Standing& standing : statistics.furthest) {
      if (std::isfinite(standing.deviation_fraction)) {
        largest = std::max(largest, std::abs(standing.deviation_fraction));
      }
    }
    if (largest > 0) rows.push_back({&statistics, largest});
  }
  std::ranges::stable_sort(rows, std::greater{}, &Row::largest_fraction);
  rows.resize(std::min(rows.size(), most_rows));
  return rows;
}

bool has_finding(const FleetAnalysis& analysis, std::size_t device, std::string_view metric) {
  const auto& own = analysis.verdicts[device].findings;
  return std::ranges::any_of(own, [&](std::size_t i) {
    return analysis.findings[i].metric == metric && analysis.findings[i].severity != Severity::info;
  });
}

Json deviation_points(const RunResult& run, const FleetAnalysis& analysis,
                      const std::vector<Row>& rows) {
  Json points = Json::array();
  for (const Row& row : rows) {
    const MetricStatistics& statistics = *row.statistics;
    for (const std::size_t i : analysis.groups[statistics.group].devices) {
      const auto value = number_of(run.devices[i], statistics.metric);
      if (!value || statistics.median == 0) continue;
      points.push_back(
          {{"metric", statistics.metric},
           {"device", chart_label(run.devices[i])},
           {"flagged", has_finding(analysis, i, statistics.metric)},
           {"value", format_quantity(*value, statistics.unit)},
           {"percent", 100 * (*value - statistics.median) / std::abs(statistics.median)}});
    }
  }
  return points;
}

}  // namespace

std::optional<Json> deviation_chart(const RunResult& run, const FleetAnalysis& analysis) {
  const std::vector<Row> rows = widest_rows(analysis);
  const Json points = deviation_points(run, analysis, rows);
  if (points.empty()) return {};
  Json metrics = Json::array();
  for (const Row& row : rows) {
    if (std::find(metrics.begin(), metrics.end(), row.statistics->metric) == metrics.end()) {
      metrics.push_back(row.statistics->metric);
    }
  }
  Json spec = chart_template("deviation");
  spec["height"] = row_px * metrics.size();
  entry_of(spec["data"], "points")["values"] = points;
  entry_of(spec["scales"], "y")["domain"] = metrics;
  return spec;
}

}  // namespace sonde
