// Statistics of one number over a group, with the scale floor that whole-cycle metrics need.
#include "analysis/fleet/series.hpp"

#include "analysis/fleet/calibration.hpp"
#include "analysis/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

namespace sonde {
namespace {

constexpr double mad_to_sigma = 1.4826;  // Gaussian; Rousseeuw and Croux 1993
constexpr std::size_t furthest_shown = 3;

struct Moments {
  std::size_t n = 0;
  double sum = 0;
  double mean() const { return sum / static_cast<double>(n); }
};

double sample_deviation(const std::vector<double>& values, double mean) {
  if (values.size() < 2) return 0;
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return std::sqrt(squares / static_cast<double>(values.size() - 1));
}

/// No scatter is believed below what the resolution, the repeats and experience allow.
double robust_scale(const Series& series, double mad, double center, double floor_fraction) {
  return std::max({mad_to_sigma * mad, mad_to_sigma * series.resolution / std::sqrt(12.0),
                   typical_repeat(series), floor_fraction * series.reference_at(center)});
}

}  // namespace

double typical_repeat(const Series& series) {
  std::vector<double> repeats;
  for (const Sample& sample : series.samples) repeats.push_back(sample.repeat);
  return median(std::move(repeats));
}

VarianceComponents variance_components(const std::vector<Sample>& samples) {
  VarianceComponents components;
  if (samples.size() < 2) return components;
  std::map<std::string, Moments> nodes;
  Moments all;
  double repeat_squares = 0;
  for (const Sample& sample : samples) {
    for (Moments* moments : {&nodes[sample.node], &all}) {
      ++moments->n;
      moments->sum += sample.value;
    }
    repeat_squares += sample.repeat * sample.repeat;
  }
  const auto total = static_cast<double>(all.n);
  const auto node_count = static_cast<double>(nodes.size());
  const bool nodes_apart = nodes.size() > 1 && nodes.size() < all.n;
  double within = 0;
  for (const Sample& sample : samples) {
    const double center = nodes_apart ? nodes[sample.node].mean() : all.mean();
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
  statistics.min = *std::min_element(values.begin(), values.end());
  statistics.max = *std::max_element(values.begin(), values.end());
  double sum = 0;
  for (const double value : values) sum += value;
  const double mean = sum / static_cast<double>(values.size());
  statistics.cv = mean != 0 ? sample_deviation(values, mean) / std::abs(mean)
                            : std::numeric_limits<double>::quiet_NaN();
}

MetricStatistics describe(const Series& series, const ReduceOptions& options) {
  std::vector<double> values;
  for (const Sample& sample : series.samples) values.push_back(sample.value);
  MetricStatistics statistics;
  statistics.metric = series.metric;
  statistics.summary = series.summary;
  statistics.unit = series.unit;
  statistics.kind = series.kind;
  statistics.group = series.group;
  fill_numbers(statistics, values);
  if (values.empty()) return statistics;
  statistics.scale =
      robust_scale(series, statistics.mad, statistics.median, options.scale_floor_fraction);
  if (statistics.n >= least_scored_devices) {
    statistics.threshold = score_cut(statistics.n, options.false_alarm);
  }
  statistics.variance = variance_components(series.samples);
  std::vector<Standing> all = standings(series, statistics);
  std::erase_if(all, [](const Standing& standing) { return standing.score == 0; });
  std::stable_sort(all.begin(), all.end(), [](const Standing& a, const Standing& b) {
    return std::abs(a.score) > std::abs(b.score);
  });
  all.resize(std::min(all.size(), furthest_shown));
  statistics.furthest = std::move(all);
  return statistics;
}

std::vector<Standing> standings(const Series& series, const MetricStatistics& statistics) {
  const double reference = series.reference_at(statistics.median);
  std::vector<Standing> all;
  for (const Sample& sample : series.samples) {
    const double deviation = sample.value - statistics.median;
    all.push_back({.device = sample.device,
                   .value = sample.value,
                   .deviation_fraction = reference > 0 ? deviation / reference
                                                       : std::numeric_limits<double>::quiet_NaN(),
                   .score = statistics.scale > 0 ? deviation / statistics.scale : 0});
  }
  return all;
}

}  // namespace sonde
