#include "analysis/statistics.hpp"

#include "base/error.hpp"

#include <boost/math/distributions/students_t.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace sonde {
namespace {

constexpr double nan_value = std::numeric_limits<double>::quiet_NaN();

Mode make_mode(std::span<const double> sorted) {
  if (sorted.empty()) return {};
  const std::size_t middle = sorted.size() / 2;
  const double center =
      sorted.size() % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
  return {.center = center, .low = sorted.front(), .high = sorted.back(), .count = sorted.size()};
}

double mean(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

}  // namespace

double median_in_place(std::span<double> values) {
  if (values.empty()) return nan_value;
  if (values.size() == 3) {  // frequent (three passes): takes half the time
    const auto [low, high] = std::minmax(values[0], values[1]);
    return std::max(low, std::min(high, values[2]));
  }
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*std::max_element(values.begin(), middle) + *middle) / 2;
}

double median(std::vector<double> values) { return median_in_place(values); }

double median(std::span<const std::uint32_t> values) {
  return median(std::vector<double>(values.begin(), values.end()));
}

double median_absolute_deviation(std::span<const double> values) {
  std::vector<double> deviations(values.begin(), values.end());
  const double middle = median(deviations);
  for (double& value : deviations) value = std::abs(value - middle);
  return median(std::move(deviations));
}

double quantile(std::vector<double> values, double fraction) {
  if (values.empty()) return nan_value;
  const double place = std::clamp(fraction, 0.0, 1.0) * static_cast<double>(values.size() - 1);
  const auto below = values.begin() + static_cast<std::ptrdiff_t>(place);
  std::nth_element(values.begin(), below, values.end());
  const auto above = below + 1 == values.end() ? below : std::min_element(below + 1, values.end());
  return std::lerp(*below, *above, place - std::floor(place));
}

double trimmed_mean(std::vector<double> values, double cut_fraction) {
  if (values.empty()) return nan_value;
  auto cut = static_cast<std::size_t>(cut_fraction * static_cast<double>(values.size()));
  cut = std::min(cut, (values.size() - 1) / 2);
  const auto first = values.begin() + static_cast<std::ptrdiff_t>(cut);
  const auto last = values.end() - static_cast<std::ptrdiff_t>(cut);
  if (cut > 0) {
    std::nth_element(values.begin(), first, values.end());
    std::nth_element(first, last, values.end());
  }
  return std::accumulate(first, last, 0.0) / static_cast<double>(last - first);
}

std::vector<Mode> find_modes(std::vector<double> values, double gap, double least_fraction) {
  std::ranges::sort(values);
  const double least = least_fraction * static_cast<double>(values.size());
  std::vector<Mode> modes;
  std::size_t start = 0;
  for (std::size_t i = 1; i <= values.size(); ++i) {
    if (i < values.size() && values[i] - values[i - 1] <= gap) continue;
    if (i > start && static_cast<double>(i - start) >= least) {
      modes.push_back(make_mode(std::span(values).subspan(start, i - start)));
    }
    start = i;
  }
  return modes;
}

TwoModes split_in_two(std::vector<double> values) {
  require(values.size() >= 2, "split_in_two needs two values");
  std::ranges::sort(values);
  const double count = static_cast<double>(values.size());
  const double total = std::accumulate(values.begin(), values.end(), 0.0);
  const double mean = total / count;
  double variance = 0;
  for (double value : values) variance += (value - mean) * (value - mean);

  std::size_t best_cut = values.size();
  double best_between = 0;
  double low_sum = 0;
  for (std::size_t cut = 1; cut < values.size(); ++cut) {
    low_sum += values[cut - 1];
    if (values[cut] <= values[cut - 1]) continue;  // equal values stay together
    const double low_count = static_cast<double>(cut);
    const double low_shift = low_sum / low_count - mean;
    const double high_shift = (total - low_sum) / (count - low_count) - mean;
    const double between =
        low_count * low_shift * low_shift + (count - low_count) * high_shift * high_shift;
    if (between > best_between) {
      best_between = between;
      best_cut = cut;
    }
  }
  const std::span sorted(values);
  TwoModes split{.low = make_mode(sorted.first(best_cut)),
                 .high = make_mode(sorted.subspan(best_cut)),
                 .threshold = values.back()};
  if (best_cut < values.size()) {
    split.threshold = (values[best_cut - 1] + values[best_cut]) / 2;
    split.explained_fraction = best_between / variance;
  }
  return split;
}

LinearFit fit_line(std::span<const double> x, std::span<const double> y) {
  require(x.size() == y.size(), "fit_line needs as many x as y");
  const double count = static_cast<double>(x.size());
  const double x_mean = std::accumulate(x.begin(), x.end(), 0.0) / count;
  const double y_mean = std::accumulate(y.begin(), y.end(), 0.0) / count;
  double xx = 0;
  double xy = 0;
  double yy = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    xx += (x[i] - x_mean) * (x[i] - x_mean);
    xy += (x[i] - x_mean) * (y[i] - y_mean);
    yy += (y[i] - y_mean) * (y[i] - y_mean);
  }
  require(xx > 0, "fit_line needs two different x");
  const double slope = xy / xx;
  return {.intercept = y_mean - slope * x_mean,
          .slope = slope,
          .r2 = yy > 0 ? xy * xy / (xx * yy) : 1.0};
}

Trend fit_trend(std::span<const double> times, std::span<const double> values, double step) {
  require(times.size() == values.size(), "a time for each value");
  if (values.empty()) return {};
  const double center = mean(times);
  const double level = mean(values);
  double squares = 0;
  double products = 0;
  for (std::size_t i = 0; i < times.size(); ++i) {
    squares += (times[i] - center) * (times[i] - center);
    products += (times[i] - center) * (values[i] - level);
  }
  if (times.size() < 3 || !(squares > 0)) return {.first = level, .last = level};
  const double slope = products / squares;
  double residual = 0;
  for (std::size_t i = 0; i < times.size(); ++i) {
    residual += std::pow(values[i] - level - slope * (times[i] - center), 2);
  }
  const double freedom = static_cast<double>(times.size()) - 2;
  const double variance = std::max(residual / freedom, step * step / 12);
  const auto [begin, end] = std::ranges::minmax(times);
  Trend trend{.first = level + slope * (begin - center),
              .last = level + slope * (end - center),
              .deviation = (end - begin) * std::sqrt(variance / squares)};
  if (trend.change() == 0) return trend;
  trend.p_value = 0;  // for a line without scatter
  if (trend.deviation > 0) {
    const boost::math::students_t student(freedom);
    trend.p_value =
        2 * boost::math::cdf(boost::math::complement(student, std::abs(trend.deviations())));
  }
  return trend;
}

}  // namespace sonde
