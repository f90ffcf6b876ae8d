// Median, scatter and cut of a series by those that agree, and who is furthest out.
#include "analysis/fleet/describe.hpp"

#include "analysis/fleet/calibration.hpp"
#include "analysis/fleet/majority.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

namespace sonde {
namespace {

constexpr std::size_t furthest_shown = 3;

/// By score; without a majority, and so without scores, by deviation. Of equals those that come
/// first.
std::vector<Standing> furthest_of(std::vector<Standing> all) {
  std::erase_if(all, [](const Standing& one) { return !(std::abs(one.deviation_fraction) > 0); });
  const std::size_t shown = std::min(all.size(), furthest_shown);
  std::ranges::partial_sort(
      all, all.begin() + static_cast<std::ptrdiff_t>(shown), {}, [](const Standing& one) {
        return std::tuple(-std::abs(one.score), -std::abs(one.deviation_fraction), one.device);
      });
  all.resize(shown);
  return all;
}

}  // namespace

MetricStatistics describe(const Series& series, const ReduceOptions& options) {
  const std::vector<double> values = values_of(series);
  MetricStatistics statistics;
  statistics.metric = series.metric;
  statistics.summary = series.summary;
  statistics.unit = series.unit;
  statistics.kind = series.kind;
  statistics.group = series.group;
  fill_numbers(statistics, values);
  if (values.empty()) return statistics;
  statistics.center = statistics.median;
  if (series.samples.size() >= 2) {
    const auto majority = find_majority(series, options);
    statistics.ambiguous = !majority;
    if (majority) {
      statistics.agreeing = majority->members;
      statistics.center = majority->center;
      statistics.scale = majority->scale;
    }
  }
  if (statistics.agreeing >= least_scored_devices) {
    statistics.threshold = score_cut(statistics.agreeing, options.false_alarm);
  }
  statistics.variance = variance_components(series.samples);
  statistics.furthest = furthest_of(standings(series, statistics));
  return statistics;
}

std::vector<Standing> standings(const Series& series, const MetricStatistics& statistics) {
  const double reference = series.reference_at(statistics.center);
  std::vector<Standing> all;
  for (const Sample& sample : series.samples) {
    const double deviation = sample.value - statistics.center;
    all.push_back({.device = sample.device,
                   .value = sample.value,
                   .deviation_fraction = reference > 0 ? deviation / reference
                                                       : std::numeric_limits<double>::quiet_NaN(),
                   .score = statistics.scale > 0 ? deviation / statistics.scale : 0});
  }
  return all;
}

}  // namespace sonde
