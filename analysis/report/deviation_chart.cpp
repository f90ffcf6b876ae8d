// The chart of the metrics in which devices of a group differ most.
#include "analysis/fleet/series.hpp"
#include "analysis/report/charts.hpp"
#include "base/units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>
#include <string>

namespace sonde {
namespace {

constexpr std::size_t most_rows = 24;
constexpr std::size_t row_px = 20;
constexpr std::size_t most_dots = 256;  // of devices that are well, in a row

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

std::string name_of(const MetricStatistics& statistics) {
  return statistics.summary.empty() ? statistics.metric
                                    : fmt::format("{} ({})", statistics.metric, statistics.summary);
}

/// The largest and the smallest, and some between them, evenly by rank, if there are many.
std::vector<Sample> thin_out(std::vector<Sample> samples) {
  if (samples.size() <= most_dots) return samples;
  std::ranges::sort(samples, {}, &Sample::value);
  std::vector<Sample> some;
  for (std::size_t i = 0; i < most_dots; ++i) {
    some.push_back(samples[i * (samples.size() - 1) / (most_dots - 1)]);
  }
  return some;
}

/// Dots of flagged devices come last, above the others.
Json deviation_points(const RunResult& run, const FleetAnalysis& analysis,
                      const std::vector<Row>& rows) {
  std::vector<Metric> shown;
  for (const Metric& metric : analysis.registry) {
    const bool has_row = std::ranges::any_of(
        rows, [&](const Row& row) { return row.statistics->metric == metric.name; });
    if (has_row) shown.push_back(metric);
  }
  const std::vector<Series> all = collect_series(run, analysis.groups, shown);
  Json well = Json::array();
  Json flagged = Json::array();
  for (const Row& row : rows) {
    const MetricStatistics& statistics = *row.statistics;
    const auto series = std::ranges::find_if(all, [&](const Series& one) {
      return one.metric == statistics.metric && one.summary == statistics.summary &&
             one.group == statistics.group;
    });
    if (series == all.end()) continue;
    const double reference = series->reference_at(statistics.median);
    if (!(reference > 0)) continue;
    const auto is_out = [&](const Sample& sample) {
      return has_finding(analysis, sample.device, statistics.metric);
    };
    const auto dot = [&](const Sample& sample, bool flag) -> Json {
      return {{"metric", name_of(statistics)},
              {"device", chart_label(run.devices[sample.device])},
              {"flagged", flag},
              {"value", format_quantity(sample.value, statistics.unit)},
              {"percent", 100 * (sample.value - statistics.median) / reference}};
    };
    std::vector<Sample> rest;
    for (const Sample& sample : series->samples) {
      if (is_out(sample)) {
        flagged.push_back(dot(sample, true));
      } else {
        rest.push_back(sample);
      }
    }
    for (const Sample& sample : thin_out(std::move(rest))) well.push_back(dot(sample, false));
  }
  well.insert(well.end(), flagged.begin(), flagged.end());
  return well;
}

}  // namespace

std::optional<Json> deviation_chart(const RunResult& run, const FleetAnalysis& analysis) {
  const std::vector<Row> rows = widest_rows(analysis);
  const Json points = deviation_points(run, analysis, rows);
  if (points.empty()) return {};
  std::set<std::string> drawn;
  for (const Json& point : points) drawn.insert(point.at("metric").get<std::string>());
  Json metrics = Json::array();  // furthest out first
  for (const Row& row : rows) {
    if (drawn.erase(name_of(*row.statistics)) > 0) metrics.push_back(name_of(*row.statistics));
  }
  Json spec = chart_template("deviation");
  spec["height"] = row_px * metrics.size();
  entry_of(spec["data"], "points")["values"] = points;
  entry_of(spec["scales"], "y")["domain"] = metrics;
  return spec;
}

}  // namespace sonde
