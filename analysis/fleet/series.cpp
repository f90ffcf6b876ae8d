// Pulls the numbers that can be compared out of the devices' findings.
#include "analysis/fleet/series.hpp"

#include "analysis/fleet/conditions.hpp"
#include "analysis/fleet/finding_finder.hpp"
#include "analysis/fleet/fingerprint.hpp"
#include "analysis/fleet/tolerance.hpp"
#include "analysis/fleet/value_text.hpp"
#include "analysis/statistics.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

namespace sonde {
namespace {

// Quantiles of a sorted per-SM map: enough that one SM in 132 moves some of them.
constexpr std::size_t profile_points = 65;

Series series_of(const Metric& metric, std::size_t group, const ReduceOptions& options) {
  Series series;
  series.metric = metric.name;
  series.unit = metric.unit;
  series.kind = metric.kind;
  series.better = metric.better;
  series.group = group;
  series.not_compared = metric.not_compared;
  series.tolerance = tolerance_for(metric, options);
  series.resolution = metric.unit == "cycle" ? 1 : 0;  // clocks count whole cycles
  return series;
}

Sample sample_of(std::size_t device, const Finding& finding, double value) {
  return {.device = device,
          .value = value,
          .repeat = repeat_deviation(finding),
          .confidence = finding.confidence,
          .reproduced = reproduced_deviation(finding)};
}

void add_numbers(const RunResult& run, const ComparisonGroup& group, Series series,
                 const std::function<void(Series)>& take) {
  FindingFinder finder(series.metric);
  for (const std::size_t device : group.devices) {
    const Finding* finding = finder.in(run.devices[device]);
    const auto value = finding == nullptr ? std::nullopt : number_of(*finding);
    if (value) series.samples.push_back(sample_of(device, *finding, *value));
  }
  if (!series.samples.empty()) take(std::move(series));
}

/// Two numbers of each device's map: its median, and the distance of its sorted profile from the
/// others'. A single SM that is worse than the others is a matter of the device itself. The spread
/// of a map differs more between healthy dies than its median does: it gets twice the tolerance.
void add_map(const RunResult& run, const ComparisonGroup& group, Series medians,
             const std::function<void(Series)>& take) {
  medians.summary = "median";
  Series distances = medians;
  distances.summary = "profile distance";
  distances.unit = "1";
  distances.better = Better::lower;
  distances.resolution = 0;
  distances.reference = 1;
  distances.tolerance.warn *= 2;
  distances.tolerance.fail *= 2;
  std::vector<std::vector<double>> profiles;
  FindingFinder finder(medians.metric);
  for (const std::size_t device : group.devices) {
    const Finding* finding = finder.in(run.devices[device]);
    const std::vector<double>* values = finding != nullptr ? vector_of(*finding) : nullptr;
    if (values == nullptr || values->empty()) continue;
    const double middle = median(known_values(*values));
    if (!(middle > 0)) continue;
    profiles.push_back(sorted_profile(*values, profile_points));
    medians.samples.push_back(sample_of(device, *finding, middle));
    Sample fraction = medians.samples.back();
    fraction.repeat /= middle;
    fraction.reproduced /= middle;
    distances.samples.push_back(fraction);
    distances.resolution = medians.resolution / middle;
  }
  if (profiles.empty()) return;
  const std::vector<double> apart = profile_distances(profiles);
  for (std::size_t i = 0; i < apart.size(); ++i) distances.samples[i].value = apart[i];
  take(std::move(medians));
  take(std::move(distances));
}

double median_of(const Series& series, double Sample::*number) {
  std::vector<double> values;
  for (const Sample& sample : series.samples) values.push_back(sample.*number);
  return median(std::move(values));
}

}  // namespace

void for_each_series(const RunResult& run, const std::vector<ComparisonGroup>& groups,
                     const ReduceOptions& options, const std::function<void(Series)>& take) {
  for (std::size_t group = 0; group < groups.size(); ++group) {
    for (const Metric& metric : options.registry) {
      if (metric.kind == MetricKind::continuous) {
        add_numbers(run, groups[group], series_of(metric, group, options), take);
      } else if (is_compared_map(metric)) {
        add_map(run, groups[group], series_of(metric, group, options), take);
      }
    }
  }
}

std::vector<Series> clock_series(const std::vector<ComparisonGroup>& groups,
                                 const std::vector<DeviceConditions>& conditions,
                                 const ReduceOptions& options) {
  std::vector<Series> all;
  for (std::size_t group = 0; group < groups.size(); ++group) {
    Series series = series_of(clock_metric, group, options);
    for (const std::size_t device : groups[group].devices) {
      const double clock_hz = conditions.at(device).sm_clock_hz;
      if (clock_hz > 0) series.samples.push_back({.device = device, .value = clock_hz});
    }
    if (!series.samples.empty()) all.push_back(std::move(series));
  }
  return all;
}

std::vector<double> values_of(const Series& series) {
  std::vector<double> values;
  for (const Sample& sample : series.samples) values.push_back(sample.value);
  return values;
}

double typical_repeat(const Series& series) { return median_of(series, &Sample::repeat); }
double typical_reproduced(const Series& series) { return median_of(series, &Sample::reproduced); }

double least_difference(const Series& series, double one_repeat, double other_repeat) {
  constexpr double gage_limit = 0.30;  // deviation of a value / least difference that is judged
  return std::max({std::max(one_repeat, other_repeat) / gage_limit,
                   within_factor * std::hypot(one_repeat, other_repeat), 1.5 * series.resolution});
}

double standard_deviation(const std::vector<double>& values) {
  if (values.size() < 2) return 0;
  const auto count = static_cast<double>(values.size());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / count;
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return std::sqrt(squares / (count - 1));
}

void fill_numbers(MetricStatistics& statistics, const std::vector<double>& values) {
  statistics.n = values.size();
  if (values.empty()) return;
  statistics.median = median(values);
  statistics.mad = median_absolute_deviation(values);
  statistics.min = std::ranges::min(values);
  statistics.max = std::ranges::max(values);
  const double mean =
      std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
  statistics.cv = mean != 0 ? standard_deviation(values) / std::abs(mean)
                            : std::numeric_limits<double>::quiet_NaN();
}

}  // namespace sonde
