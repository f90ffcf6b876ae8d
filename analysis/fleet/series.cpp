// Pulls the numbers that can be compared out of the devices' findings, and describes each over its
// group, with the scale floor that whole-cycle metrics need.
#include "analysis/fleet/series.hpp"

#include "analysis/fleet/finding_finder.hpp"
#include "analysis/fleet/fingerprint.hpp"
#include "analysis/fleet/value_text.hpp"
#include "analysis/statistics.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>

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
  series.not_compared = metric.not_compared;
  series.tolerance = {.prefix = "", .warn = metric.warn, .fail = metric.fail};
  series.resolution = metric.unit == "cycle" ? 1 : 0;  // clocks count whole cycles
  return series;
}

Sample sample_of(const RunResult& run, std::size_t device, const Finding& finding, double value) {
  return {.device = device,
          .value = value,
          .repeat = repeat_deviation(finding),
          .confidence = finding.confidence,
          .node = run.devices[device].node,
          .reproduced = reproduced_deviation(finding)};
}

Series number_series(const RunResult& run, const ComparisonGroup& group, Series series) {
  FindingFinder finder(series.metric);
  for (const std::size_t device : group.devices) {
    const Finding* finding = finder.in(run.devices[device]);
    if (finding == nullptr) continue;
    if (const auto value = number_of(*finding)) {
      series.samples.push_back(sample_of(run, device, *finding, *value));
    }
  }
  return series;
}

/// Two numbers of each device's map: its median, and the distance of its sorted profile from the
/// others'. A single SM that is worse than the others is a matter of the device itself.
void add_map_series(const RunResult& run, const ComparisonGroup& group, const Metric& metric,
                    std::size_t index, const std::function<void(Series)>& take) {
  Series medians = series_of(metric, index);
  medians.summary = "median";
  Series distances = medians;
  distances.summary = "profile distance";
  distances.unit = "1";
  distances.better = Better::lower;
  distances.resolution = 0;
  distances.reference = 1;
  std::vector<std::vector<double>> profiles;
  FindingFinder finder(metric.name);
  for (const std::size_t device : group.devices) {
    const Finding* finding = finder.in(run.devices[device]);
    const std::vector<double>* values = finding != nullptr ? vector_of(*finding) : nullptr;
    if (values == nullptr || values->empty()) continue;
    const double middle = median(known_values(*values));
    if (!(middle > 0)) continue;
    profiles.push_back(sorted_profile(*values, profile_points));
    medians.samples.push_back(sample_of(run, device, *finding, middle));
    Sample fraction = medians.samples.back();
    fraction.repeat /= middle;
    fraction.reproduced /= middle;
    distances.samples.push_back(fraction);
    distances.resolution = medians.resolution / middle;
  }
  const std::vector<double> apart = profile_distances(profiles);
  for (std::size_t i = 0; i < apart.size(); ++i) distances.samples[i].value = apart[i];
  for (Series* series : {&medians, &distances}) {
    if (!series->samples.empty()) take(std::move(*series));
  }
}

struct Moments {
  std::size_t n = 0;
  double sum = 0;
  double mean() const { return sum / static_cast<double>(n); }
};

/// Of each node. Its devices follow each other, mostly: the last one is asked first.
class NodeMoments {
 public:
  Moments& of(std::string_view node) {
    if (last_ == nodes_.end() || last_->first != node) last_ = nodes_.try_emplace(node).first;
    return last_->second;
  }
  const std::map<std::string_view, Moments>& all() const { return nodes_; }

 private:
  std::map<std::string_view, Moments> nodes_;
  std::map<std::string_view, Moments>::iterator last_ = nodes_.end();
};

double sample_deviation(const std::vector<double>& values, double mean) {
  if (values.size() < 2) return 0;
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return std::sqrt(squares / static_cast<double>(values.size() - 1));
}

}  // namespace

void for_each_series(const RunResult& run, const std::vector<ComparisonGroup>& groups,
                     std::span<const Metric> registry, const std::function<void(Series)>& take) {
  for (std::size_t group = 0; group < groups.size(); ++group) {
    for (const Metric& metric : registry) {
      if (metric.kind == MetricKind::continuous) {
        Series series = number_series(run, groups[group], series_of(metric, group));
        if (!series.samples.empty()) take(std::move(series));
      } else if (is_compared_map(metric)) {
        add_map_series(run, groups[group], metric, group, take);
      }
    }
  }
}

std::vector<Series> collect_series(const RunResult& run, const std::vector<ComparisonGroup>& groups,
                                   std::span<const Metric> registry) {
  std::vector<Series> all;
  for_each_series(run, groups, registry,
                  [&all](Series series) { all.push_back(std::move(series)); });
  return all;
}

/// A covariate that is also worth a line of its own.
std::vector<Series> clock_series(const RunResult& run, const std::vector<ComparisonGroup>& groups,
                                 const std::vector<DeviceConditions>& conditions) {
  std::vector<Series> all;
  for (std::size_t group = 0; group < groups.size(); ++group) {
    Series series;
    series.metric = "conditions.sm_clock_hz";
    series.unit = "Hz";
    series.better = Better::higher;
    series.group = group;
    for (const std::size_t device : groups[group].devices) {
      const double clock_hz = conditions.at(device).sm_clock_hz;
      if (!(clock_hz > 0)) continue;
      series.samples.push_back(
          {.device = device, .value = clock_hz, .node = run.devices[device].node});
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

double typical_repeat(const Series& series) {
  std::vector<double> repeats;
  for (const Sample& sample : series.samples) repeats.push_back(sample.repeat);
  return median(std::move(repeats));
}

double typical_reproduced(const Series& series) {
  std::vector<double> reproduced;
  for (const Sample& sample : series.samples) reproduced.push_back(sample.reproduced);
  return median(std::move(reproduced));
}

VarianceComponents variance_components(const std::vector<Sample>& samples) {
  VarianceComponents components;
  if (samples.size() < 2) return components;
  NodeMoments by_node;
  Moments all;
  double repeat_squares = 0;
  for (const Sample& sample : samples) {
    for (Moments* moments : {&by_node.of(sample.node), &all}) {
      ++moments->n;
      moments->sum += sample.value;
    }
    repeat_squares += sample.repeat * sample.repeat;
  }
  const auto& nodes = by_node.all();
  const auto total = static_cast<double>(all.n);
  const auto node_count = static_cast<double>(nodes.size());
  const bool nodes_apart = nodes.size() > 1 && nodes.size() < all.n;
  double within = 0;
  for (const Sample& sample : samples) {
    const double center = nodes_apart ? by_node.of(sample.node).mean() : all.mean();
    within += (sample.value - center) * (sample.value - center);
  }
  const double within_square = within / (nodes_apart ? total - node_count : total - 1);
  double node_variance = 0;
  if (nodes_apart) {
    double between = 0;
    double size_squares = 0;
    for (const auto& [name, moments] : nodes) {
      const auto size = static_cast<double>(moments.n);
      between += size * std::pow(moments.mean() - all.mean(), 2);
      size_squares += size * size;
    }
    const double mean_size = (total - size_squares / total) / (node_count - 1);
    node_variance = std::max(0.0, (between / (node_count - 1) - within_square) / mean_size);
  }
  const double repeat_variance = repeat_squares / total;
  const double device_variance = std::max(0.0, within_square - repeat_variance);
  components.node = std::sqrt(node_variance);
  components.device = std::sqrt(device_variance);
  components.repeat = std::sqrt(repeat_variance);
  const double sum = node_variance + device_variance + repeat_variance;
  components.gage = sum > 0 ? std::sqrt(repeat_variance / sum) : 0;
  return components;
}

void fill_numbers(MetricStatistics& statistics, const std::vector<double>& values) {
  statistics.n = values.size();
  if (values.empty()) return;
  statistics.median = median(values);
  statistics.mad = median_absolute_deviation(values);
  statistics.min = std::ranges::min(values);
  statistics.max = std::ranges::max(values);
  const double sum = std::accumulate(values.begin(), values.end(), 0.0);
  const double mean = sum / static_cast<double>(values.size());
  statistics.cv = mean != 0 ? sample_deviation(values, mean) / std::abs(mean)
                            : std::numeric_limits<double>::quiet_NaN();
}

}  // namespace sonde
