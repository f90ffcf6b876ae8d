#include "analysis/trend.hpp"

#include "base/error.hpp"

#include <boost/math/distributions/students_t.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace sonde {
namespace {

double mean(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

}  // namespace

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
  trend.p_value = 0;  // of a line without any scatter
  if (trend.deviation > 0) {
    const boost::math::students_t student(freedom);
    trend.p_value =
        2 * boost::math::cdf(boost::math::complement(student, std::abs(trend.deviations())));
  }
  return trend;
}

}  // namespace sonde
