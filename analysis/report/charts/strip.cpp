// Strips of a fleet: the values of a metric, one dot per device.
#include "analysis/fleet/value_text.hpp"
#include "analysis/report/charts/charts.hpp"
#include "base/units.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace sonde {
namespace {

constexpr std::size_t most_metrics = 24;
constexpr std::size_t most_dots = 1024;  // more than the pixels of a strip

/// A metric, and its values by device.
struct Strip {
  const MetricStatistics* statistics = nullptr;
  std::map<std::size_t, double> values;
};

double largest_fraction(const MetricStatistics& statistics) {
  double largest = 0;
  for (const Standing& standing : statistics.furthest) {
    if (std::isfinite(standing.deviation_fraction)) {
      largest = std::max(largest, std::abs(standing.deviation_fraction));
    }
  }
  return largest;
}

/// True if the device has a charge of warning or worse in this metric.
bool is_blamed(const FleetAnalysis& analysis, std::size_t device,
               const MetricStatistics& statistics) {
  const std::string title =
      title_of(statistics);  // as charges name it; charges about a single SM name the map
  return std::ranges::any_of(analysis.verdicts[device].charges, [&](std::size_t i) {
    const Charge& finding = analysis.charges[i];
    return finding.weighs() && (finding.metric == title || finding.metric == statistics.metric);
  });
}

/// Continuous metrics that are compared, and structural ones (numbers of SMs) with a charge.
bool has_strip(const FleetAnalysis& analysis, const MetricStatistics& statistics) {
  if (statistics.n < 2) return false;
  if (is_structure(statistics.kind)) {
    return std::ranges::any_of(analysis.groups[statistics.group].devices, [&](std::size_t device) {
      return is_blamed(analysis, device, statistics);
    });
  }
  const Metric* metric = find_metric(statistics.metric, analysis.registry);
  const bool is_compared = metric == nullptr || metric->not_compared.empty();
  return is_compared && statistics.kind == MetricKind::continuous &&
         largest_fraction(statistics) > 0;
}

/// Charged metrics first; each part sorted by the largest deviation.
std::vector<Strip> collect_strips(const RunResult& run, const FleetAnalysis& analysis) {
  std::vector<Strip> strips;
  for (const MetricStatistics& statistics : analysis.statistics) {
    if (!has_strip(analysis, statistics)) continue;
    Strip strip{&statistics, {}};
    for (const std::size_t device : analysis.groups[statistics.group].devices) {
      const auto value = number_of(run.devices[device], statistics.metric);
      if (value) strip.values.emplace(device, *value);
    }
    if (!strip.values.empty()) strips.push_back(std::move(strip));  // the SM clock is no finding
  }
  std::ranges::stable_sort(strips, std::greater{},
                           [](const Strip& strip) { return largest_fraction(*strip.statistics); });
  std::ranges::stable_partition(strips, [&](const Strip& strip) {
    return std::ranges::any_of(strip.values, [&](const auto& value) {
      return is_blamed(analysis, value.first, *strip.statistics);
    });
  });
  strips.resize(std::min(strips.size(), most_metrics));
  return strips;
}

/// Flagged devices, and an even selection of the others as far as there is room.
std::vector<std::size_t> drawn_devices(const FleetAnalysis& analysis,
                                       const ComparisonGroup& group) {
  std::vector<std::size_t> drawn = group.devices;
  const auto rest = std::ranges::stable_partition(
      drawn, [&](std::size_t device) { return is_flagged(analysis.verdicts[device]); });
  const auto flagged = static_cast<std::size_t>(rest.begin() - drawn.begin());
  const std::size_t room = most_dots - std::min(most_dots, flagged);
  if (rest.size() > room) {
    for (std::size_t i = 0; i < room; ++i) drawn[flagged + i] = rest[i * rest.size() / room];
    drawn.resize(std::min(most_dots, flagged + room));
  }
  return drawn;
}

Json strip_json(const FleetAnalysis& analysis, const Strip& strip,
                const std::vector<std::size_t>& drawn) {
  const MetricStatistics& statistics = *strip.statistics;
  const DisplayUnit display = display_unit(statistics.median, statistics.unit);
  Json values = Json::array();
  Json out = Json::array();
  for (std::size_t i = 0; i < drawn.size(); ++i) {
    const auto value = strip.values.find(drawn[i]);
    const Json shown =
        value == strip.values.end() ? Json() : shown_number(value->second / display.divisor);
    values.push_back(shown);
    if (!shown.is_null() && is_blamed(analysis, drawn[i], statistics)) out.push_back(i);
  }
  return {{"name", title_of(statistics)}, {"unit", display.text == "1" ? "" : display.text},
          {"group", statistics.group},    {"median", statistics.median / display.divisor},
          {"values", std::move(values)},  {"out", std::move(out)}};
}

}  // namespace

Json strip_chart(const RunResult& run, const FleetAnalysis& analysis) {
  const std::vector<Strip> strips = collect_strips(run, analysis);
  if (strips.empty()) return {};
  std::vector<std::vector<std::size_t>> drawn;
  Json chart{{"groups", Json::array()}, {"metrics", Json::array()}};
  for (const ComparisonGroup& group : analysis.groups) {
    drawn.push_back(drawn_devices(analysis, group));
    Json devices = Json::array();
    for (const std::size_t i : drawn.back()) {
      const DeviceResult& device = run.devices[i];
      devices.push_back(
          {{"gpu", device.info.uuid.substr(0, 12)}, {"node", device.node}, {"rank", device.rank}});
    }
    chart["groups"].push_back(
        {{"label", group.label}, {"n", group.devices.size()}, {"devices", std::move(devices)}});
  }
  for (const Strip& strip : strips) {
    chart["metrics"].push_back(strip_json(analysis, strip, drawn[strip.statistics->group]));
  }
  return chart;
}

}  // namespace sonde
