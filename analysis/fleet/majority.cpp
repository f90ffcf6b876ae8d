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

namespace sonde {
namespace {

// A tolerance is three times the usual scatter of healthy devices. A group that scatters twice as
// much is still believed; beyond that the scatter itself is the fault.
constexpr double most_scatter_of_tolerance = 2.0 / 3;

constexpr int most_rounds = 30;

/// Samples by value, ascending.
std::vector<std::size_t> order_of(const Series& series) {
  std::vector<std::size_t> order(series.samples.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::sort(order, {}, [&](std::size_t i) { return series.samples[i].value; });
  return order;
}

/// Median of ascending values.
double middle_of(std::span<const double> sorted) {
  const std::size_t half = sorted.size() / 2;
  return sorted.size() % 2 == 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
}

/// No scatter is believed below what the clock, the repeats and experience allow.
double scale_of(const Series& series, std::span<const double> members, double center,
                const ReduceOptions& options) {
  const double reference = series.reference_at(center);
  const double most =
      reference > 0 ? most_scatter_of_tolerance * series_tolerance(series, options).warn * reference
                    : std::numeric_limits<double>::infinity();
  return std::max({std::min(normal_scale * median_absolute_deviation(members), most),
                   normal_scale * series.resolution / std::sqrt(12.0), typical_repeat(series),
                   options.scale_floor_fraction * reference});
}

/// How far two devices may lie apart that agree.
double most_extent(const Series& series, double reference, double repeat,
                   const ReduceOptions& options) {
  const Tolerance tolerance = series_tolerance(series, options);
  const double fraction = series.samples.size() == 2 ? tolerance.warn : tolerance.fail;
  return std::max(fraction * reference, least_difference(series, repeat, repeat, options));
}

}  // namespace

std::optional<Majority> find_majority(const Series& series, const ReduceOptions& options) {
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
  if (members.back() - members.front() > most_extent(series, reference, repeat, options)) return {};
  Majority majority;
  for (int round = 0; round < most_rounds; ++round) {
    majority = {.members = members.size(), .center = middle_of(members), .scale = 0};
    majority.scale = scale_of(series, members, majority.center, options);
    const double limit =
        std::max(score_limit(members.size(), options) * majority.scale,
                 series_tolerance(series, options).warn * series.reference_at(majority.center));
    const auto low = std::ranges::lower_bound(sorted, majority.center - limit);
    const auto high = std::ranges::upper_bound(sorted, majority.center + limit);
    const std::span<const double> next(low, high);
    if (next.data() == members.data() && next.size() == members.size()) break;
    members = next;
  }
  if (2 * members.size() <= sorted.size()) return {};
  return majority;
}

std::vector<std::vector<std::size_t>> parts_of(const Series& series, const ReduceOptions& options) {
  const std::vector<std::size_t> order = order_of(series);
  const double reference = series.reference_at(median(values_of(series)));
  const double gap =
      std::max(series_tolerance(series, options).warn * reference,
               least_difference(series, typical_repeat(series), typical_repeat(series), options));
  std::vector<std::vector<std::size_t>> parts{{order.front()}};
  for (std::size_t i = 1; i < order.size(); ++i) {
    const double step = series.samples[order[i]].value - series.samples[order[i - 1]].value;
    if (step >= gap) parts.emplace_back();
    parts.back().push_back(order[i]);
  }
  std::ranges::reverse(parts);
  return parts;
}

}  // namespace sonde
