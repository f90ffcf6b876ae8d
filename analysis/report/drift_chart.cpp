// What drifts over the repeats of a night: a curve of each device against time.
#include "analysis/report/charts.hpp"
#include "base/units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

namespace sonde {
namespace {

// What a person looks through; and lines that can be told apart.
constexpr std::size_t most_charts = 6;
constexpr std::size_t most_lines = 16;

/// Known numbers; NaN has no place in a chart.
Json number_or_null(double value) { return value > 0 ? Json(value) : Json(nullptr); }

/// What the axis of time counts in.
struct TimeUnit {
  double seconds = 1;
  const char* name = "seconds";
};
TimeUnit time_unit(double span_s) {
  if (span_s < 120) return {};
  return span_s < 7200 ? TimeUnit{60, "minutes"} : TimeUnit{3600, "hours"};
}

struct Scales {
  double begin_unix_s = 0;
  TimeUnit time;
  DisplayUnit value;
};

void add_points(const Drift& drift, const std::string& label, const Scales& scales, Json& points) {
  for (const RepeatValue& repeat : drift.repeats) {
    points.push_back({{"device", label},
                      {"time", (repeat.unix_s - scales.begin_unix_s) / scales.time.seconds},
                      {"value", repeat.value / scales.value.divisor},
                      {"temperature_c", number_or_null(repeat.temperature_c)},
                      {"clock", repeat.sm_clock_hz > 0 ? format_quantity(repeat.sm_clock_hz, "Hz")
                                                       : "unknown"}});
  }
}

Json draw(const RunResult& run, const std::vector<const Drift*>& drifts) {
  double begin_unix_s = INFINITY;
  double end_unix_s = -INFINITY;
  for (const Drift* drift : drifts) {
    begin_unix_s = std::min(begin_unix_s, drift->repeats.front().unix_s);
    end_unix_s = std::max(end_unix_s, drift->repeats.back().unix_s);
  }
  const Drift& largest = *drifts.front();
  const Scales scales{.begin_unix_s = begin_unix_s,
                      .time = time_unit(end_unix_s - begin_unix_s),
                      .value = display_unit(largest.value.first, largest.unit)};
  Json points = Json::array();
  for (std::size_t i = 0; i < std::min(drifts.size(), most_lines); ++i) {
    add_points(*drifts[i], chart_label(run, run.devices.at(drifts[i]->device)), scales, points);
  }
  Json spec = chart_template("drift");
  entry_of(spec["data"], "points")["values"] = points;
  entry_of(spec["signals"], "quantity")["value"] = scales.value.text;
  entry_of(spec["signals"], "time_unit")["value"] = scales.time.name;
  spec["title"]["text"] = largest.metric;
  return spec;
}

}  // namespace

Json drift_charts(const RunResult& run, const FleetAnalysis& analysis) {
  std::vector<const Drift*> all;
  for (const Drift& drift : analysis.drifts) all.push_back(&drift);
  std::ranges::stable_sort(all, std::greater{},
                           [](const Drift* drift) { return std::abs(drift->value.fraction()); });
  std::vector<std::vector<const Drift*>> by_metric;
  for (const Drift* drift : all) {
    const auto same = std::ranges::find_if(
        by_metric, [&](const auto& those) { return those.front()->metric == drift->metric; });
    if (same == by_metric.end()) {
      by_metric.push_back({drift});
    } else {
      same->push_back(drift);
    }
  }
  Json specs = Json::array();
  for (std::size_t i = 0; i < std::min(by_metric.size(), most_charts); ++i) {
    specs.push_back(draw(run, by_metric[i]));
  }
  return specs;
}

}  // namespace sonde
