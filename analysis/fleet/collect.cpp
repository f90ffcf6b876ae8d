// Pulls the numbers that can be compared out of the devices' findings.
#include "analysis/fleet/conditions.hpp"
#include "analysis/fleet/fingerprint.hpp"
#include "analysis/fleet/series.hpp"
#include "analysis/fleet/value_text.hpp"

namespace sonde {
namespace {

// Quantiles of a sorted per-SM map: enough that one SM in 132 moves some of them.
constexpr std::size_t profile_points = 65;

Series series_of(const Metric& metric, std::size_t group) {
  Series series;
  series.metric = metric.name;
  series.unit = metric.unit;
  series.kind = metric.kind;
  series.better = metric.better;
  series.group = group;
  series.resolution = metric.unit == "cycle" ? 1 : 0;  // clocks count whole cycles
  return series;
}

Sample sample_of(const RunResult& run, std::size_t device, const Finding& finding, double value) {
  return {.device = device,
          .value = value,
          .repeat = repeat_deviation(finding),
          .confidence = finding.confidence,
          .node = run.devices[device].node};
}

Series number_series(const RunResult& run, const ComparisonGroup& group, Series series) {
  for (const std::size_t device : group.devices) {
    const Finding* finding = find_finding(run.devices[device], series.metric);
    if (finding == nullptr) continue;
    if (const auto value = number_of(*finding)) {
      series.samples.push_back(sample_of(run, device, *finding, *value));
    }
  }
  return series;
}

/// What the probes saw of the clock: a covariate that is also worth a line of its own.
Series clock_series(const RunResult& run, const ComparisonGroup& group, std::size_t index) {
  Series series;
  series.metric = "conditions.sm_clock_hz";
  series.unit = "Hz";
  series.better = Better::higher;
  series.group = index;
  for (const std::size_t device : group.devices) {
    const double clock_hz = summarize_conditions(run.devices[device]).sm_clock_hz;
    if (!(clock_hz > 0)) continue;
    series.samples.push_back(
        {.device = device, .value = clock_hz, .node = run.devices[device].node});
  }
  return series;
}

/// Three numbers of each device's map: its median, the distance of its worst SM from that, and the
/// distance of its sorted profile from the others'.
void add_map_series(const RunResult& run, const ComparisonGroup& group, const Metric& metric,
                    std::size_t index, std::vector<Series>& all) {
  Series medians = series_of(metric, index);
  medians.summary = "median";
  Series worst = medians;
  worst.summary = "worst over median";
  worst.unit = "1";
  worst.better = Better::lower;
  worst.resolution = 0;
  worst.reference = 1;
  Series distances = worst;
  distances.summary = "profile distance";
  std::vector<std::vector<double>> profiles;
  for (const std::size_t device : group.devices) {
    const Finding* finding = find_finding(run.devices[device], metric.name);
    const std::vector<double>* values = finding != nullptr ? vector_of(*finding) : nullptr;
    if (values == nullptr || values->empty()) continue;
    const MapSummary map = summarize_map(*values, metric.better);
    if (!(map.median > 0)) continue;
    profiles.push_back(sorted_profile(*values, profile_points));
    medians.samples.push_back(sample_of(run, device, *finding, map.median));
    Sample fraction = medians.samples.back();
    fraction.repeat /= map.median;
    fraction.value = map.worst_over_median;
    worst.samples.push_back(fraction);
    distances.samples.push_back(fraction);
    worst.resolution = distances.resolution = medians.resolution / map.median;
  }
  const std::vector<double> apart = profile_distances(profiles);
  for (std::size_t i = 0; i < apart.size(); ++i) distances.samples[i].value = apart[i];
  for (Series* series : {&medians, &worst, &distances}) {
    if (!series->samples.empty()) all.push_back(std::move(*series));
  }
}

}  // namespace

std::vector<Series> collect_series(const RunResult& run, const std::vector<ComparisonGroup>& groups,
                                   std::span<const Metric> registry) {
  std::vector<Series> all;
  for (std::size_t group = 0; group < groups.size(); ++group) {
    for (const Metric& metric : registry) {
      if (metric.kind == MetricKind::continuous) {
        Series series = number_series(run, groups[group], series_of(metric, group));
        if (!series.samples.empty()) all.push_back(std::move(series));
      } else if (metric.kind == MetricKind::fingerprint && metric.better != Better::neither) {
        add_map_series(run, groups[group], metric, group, all);
      }
    }
    Series clocks = clock_series(run, groups[group], group);
    if (!clocks.samples.empty()) all.push_back(std::move(clocks));
  }
  return all;
}

}  // namespace sonde
