// Outliers of maps: one-sided, robust, corrected for the number of units.
#include "analysis/structure/cores/slow_units.hpp"

#include "analysis/statistics.hpp"

#include <fmt/format.h>
#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/students_t.hpp>

#include <algorithm>
#include <cmath>
#include <functional>

namespace sonde {
namespace {

// Probability for a healthy map, by its scatter and by the floor each; the gap lowers it further.
constexpr double false_alarm = 1e-3;
constexpr double least_fraction = 0.02;
constexpr std::size_t fewest_units = 4;
constexpr std::size_t units_for_each_named = 30;
// The median absolute deviation estimates the scale as well as the standard deviation of this part
// of the values (Rousseeuw and Croux 1993).
constexpr double mad_efficiency = 0.37;

/// The distance that no unit of a healthy device exceeds, except with probability `false_alarm`: by
/// the scatter of the units, whose scale is itself an estimate, and by the floor.
class Cut {
 public:
  Cut(const std::vector<double>& known, double floor)
      : scale_(normal_scale * median_absolute_deviation(known)),
        floor_(floor),
        units_(static_cast<double>(known.size())),
        scatter_(std::max(1.0, mad_efficiency * (units_ - 1))) {}

  bool is_passed(double worse) const {
    return worse > floor_ * boost::math::quantile(complement(normal_, false_alarm / units_)) &&
           worse > scale_ * boost::math::quantile(complement(scatter_, false_alarm / units_));
  }
  double score(double worse) const { return worse / std::max(scale_, floor_); }
  /// Confidence that no unit of a healthy device is this far from the median.
  double confidence(double worse) const {
    const double by_floor = floor_ > 0 ? cdf(complement(normal_, worse / floor_)) : 0;
    const double by_scatter = scale_ > 0 ? cdf(complement(scatter_, worse / scale_)) : 0;
    return std::max(0.0, 1 - units_ * std::max(by_floor, by_scatter));
  }

 private:
  double scale_;
  double floor_;
  double units_;
  boost::math::normal normal_;
  boost::math::students_t scatter_;
};

}  // namespace

std::vector<SlowUnit> find_slow_units(const UnitMap& map) {
  std::vector<double> known;
  std::ranges::copy_if(map.values, std::back_inserter(known),
                       [](double value) { return !std::isnan(value); });
  if (known.size() < fewest_units) return {};
  const double usual = median(known);
  const Cut cut(known, map.floor);
  std::vector<SlowUnit> slow;
  double worst_of_rest = 0;
  for (std::size_t i = 0; i < map.values.size(); ++i) {
    if (std::isnan(map.values[i])) continue;
    const double over = map.values[i] - usual;
    const double worse = map.better == Better::higher ? -over : over;
    if (cut.is_passed(worse) && worse >= least_fraction * usual) {
      slow.push_back({.number = static_cast<int>(i),
                      .value = map.values[i],
                      .usual = usual,
                      .fraction = worse / usual,
                      .score = cut.score(worse),
                      .confidence = cut.confidence(worse),
                      .what = map.what,
                      .unit = map.unit});
    } else {
      worst_of_rest = std::max(worst_of_rest, worse);
    }
  }
  std::ranges::sort(slow, std::greater<>(), &SlowUnit::score);
  const std::size_t most = std::max<std::size_t>(1, known.size() / units_for_each_named);
  if (slow.empty() || slow.size() > most) return {};
  if (2 * worst_of_rest > slow.back().fraction * usual) return {};
  return slow;
}

std::string describe_slow_unit(const SlowUnit& unit) {
  return fmt::format(
      "{} {:.1f} {} where its peers have {:.1f}: {:.1f} % {}, {:.0f} times their "
      "scatter",
      unit.what, unit.value, unit.unit, unit.usual, 100 * unit.fraction,
      unit.value > unit.usual ? "more" : "less", unit.score);
}

}  // namespace sonde
