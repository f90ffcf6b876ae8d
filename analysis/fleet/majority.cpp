// The densest half, and what agrees with it.
#include "analysis/fleet/majority.hpp"

#include "analysis/fleet/calibration.hpp"
#include "analysis/fleet/tolerance.hpp"
#include "analysis/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>
#include <tuple>

namespace sonde {
namespace {

// A tolerance is three times the usual scatter of healthy devices. A group that scatters twice as
// much is still believed; beyond that the scatter itself is the fault.
constexpr double most_scatter_of_tolerance = 2.0 / 3;

constexpr int most_rounds = 30;
constexpr std::size_t furthest_shown = 3;

/// Median of ascending values.
double middle_of(std::span<const double> sorted) {
  const std::size_t half = sorted.size() / 2;
  return sorted.size() % 2 == 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
}

/// No scatter is believed below what the clock, the repeats and experience allow.
double scale_of(const Series& series, std::span<const double> members, double center) {
  const double reference = series.reference_at(center);
  const double most = reference > 0 ? most_scatter_of_tolerance * series.tolerance.warn * reference
                                    : std::numeric_limits<double>::infinity();
  return std::max({std::min(normal_scale * median_absolute_deviation(members), most),
                   normal_scale * series.resolution / std::sqrt(12.0), typical_repeat(series),
                   scale_floor_fraction * reference});
}

/// How far two devices may lie apart that agree.
double most_extent(const Series& series, double reference, double repeat) {
  const double fraction =
      series.samples.size() == 2 ? series.tolerance.warn : series.tolerance.fail;
  return std::max(fraction * reference, least_difference(series, repeat, repeat));
}

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

std::optional<Majority> find_majority(const Series& series) {
  std::vector<double> sorted = values_of(series);
  std::ranges::sort(sorted);
  const std::size_t half = sorted.size() / 2 + 1;
  std::size_t begin = 0;
  for (std::size_t i = 0; i + half <= sorted.size(); ++i) {
    if (sorted[i + half - 1] - sorted[i] < sorted[begin + half - 1] - sorted[begin]) begin = i;
  }
  std::span<const double> members = std::span(sorted).subspan(begin, half);
  const double repeat = sorted.size() == 2
                            ? std::max(series.samples[0].repeat, series.samples[1].repeat)
                            : typical_repeat(series);
  const double reference = series.reference_at(middle_of(members));
  if (members.back() - members.front() > most_extent(series, reference, repeat)) return {};
  Majority majority;
  for (int round = 0; round < most_rounds; ++round) {
    majority = {.members = members.size(), .center = middle_of(members), .scale = 0};
    majority.scale = scale_of(series, members, majority.center);
    const double limit = std::max(score_limit(members.size()) * majority.scale,
                                  series.tolerance.warn * series.reference_at(majority.center));
    const auto low = std::ranges::lower_bound(sorted, majority.center - limit);
    const auto high = std::ranges::upper_bound(sorted, majority.center + limit);
    const std::span<const double> next(low, high);
    if (next.data() == members.data() && next.size() == members.size()) break;
    members = next;
  }
  if (2 * members.size() <= sorted.size()) return {};
  return majority;
}

std::vector<std::vector<std::size_t>> parts_of(const Series& series) {
  std::vector<std::size_t> order(series.samples.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::sort(order, {}, [&](std::size_t i) { return series.samples[i].value; });
  const double reference = series.reference_at(median(values_of(series)));
  const double gap =
      std::max(series.tolerance.warn * reference,
               least_difference(series, typical_repeat(series), typical_repeat(series)));
  std::vector<std::vector<std::size_t>> parts{{order.front()}};
  for (std::size_t i = 1; i < order.size(); ++i) {
    const double step = series.samples[order[i]].value - series.samples[order[i - 1]].value;
    if (step >= gap) parts.emplace_back();
    parts.back().push_back(order[i]);
  }
  std::ranges::reverse(parts);
  return parts;
}

MetricStatistics describe(const Series& series) {
  MetricStatistics statistics;
  statistics.metric = series.metric;
  statistics.summary = series.summary;
  statistics.unit = series.unit;
  statistics.kind = series.kind;
  statistics.group = series.group;
  fill_numbers(statistics, values_of(series));
  statistics.center = statistics.median;
  if (series.samples.size() >= 2) {
    const auto majority = find_majority(series);
    statistics.ambiguous = !majority;
    if (majority) {
      statistics.agreeing = majority->members;
      statistics.center = majority->center;
      statistics.scale = majority->scale;
    }
  }
  if (statistics.agreeing >= least_scored_devices) {
    statistics.threshold = score_limit(statistics.agreeing);
  }
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
