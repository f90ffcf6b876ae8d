// The chart of the metrics in which devices of a group differ most.
#include "analysis/report/charts.hpp"
#include "analysis/report/compared_metrics.hpp"
#include "base/units.hpp"

#include <algorithm>
#include <string>
#include <vector>

namespace sonde {
namespace {

constexpr std::size_t most_rows = 24;
constexpr std::size_t row_px = 20;
constexpr std::size_t most_dots = 256;  // of devices that are well, in a row

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
                      const std::vector<ComparedMetric>& rows) {
  Json well = Json::array();
  Json flagged = Json::array();
  for (const ComparedMetric& row : rows) {
    const MetricStatistics& statistics = *row.statistics;
    const double reference = row.series.reference_at(statistics.median);
    const auto is_out = [&](const Sample& sample) {
      return is_blamed(analysis, sample.device, statistics);
    };
    const auto dot = [&](const Sample& sample, bool flag) -> Json {
      return {{"metric", title_of(statistics)},
              {"device", chart_label(run, run.devices[sample.device])},
              {"flagged", flag},
              {"value", format_quantity(sample.value, statistics.unit)},
              {"percent", 100 * (sample.value - statistics.median) / reference}};
    };
    std::vector<Sample> rest;
    for (const Sample& sample : row.series.samples) {
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
  std::vector<ComparedMetric> rows = compared_metrics(run, analysis);
  rows.resize(std::min(rows.size(), most_rows));
  if (rows.empty()) return {};
  Json metrics = Json::array();  // furthest out first; of several groups in one row
  for (const ComparedMetric& row : rows) {
    const std::string title = title_of(*row.statistics);
    if (std::ranges::find(metrics, Json(title)) == metrics.end()) metrics.push_back(title);
  }
  Json spec = chart_template("deviation");
  spec["height"] = row_px * metrics.size();
  entry_of(spec["data"], "points")["values"] = deviation_points(run, analysis, rows);
  entry_of(spec["scales"], "y")["domain"] = metrics;
  return spec;
}

}  // namespace sonde
