// A line through values over time, and how sure it is that they rise or fall. Pure.
#pragma once

#include <span>

namespace sonde {

/// Least squares; the values that the line has at the first and the last time.
struct Trend {
  double first = 0;
  double last = 0;
  double deviation = 0;  // standard deviation of last - first
  /// Chance of a difference as large, up or down, if values did not depend on time: Student's t
  /// with two degrees of freedom fewer than values.
  double p_value = 1;

  double change() const { return last - first; }
  double fraction() const { return first != 0 ? change() / first : 0; }
  double deviations() const { return deviation > 0 ? change() / deviation : 0; }
};

/// @param times, values [n] of one measurement each, in any order and unit
/// @param step of a value: no scatter is believed to be smaller than that of rounding to it
/// @returns the mean, with a chance of 1, where less than three values or a single time are given
/// @throws Error if the sizes differ
Trend fit_trend(std::span<const double> times, std::span<const double> values, double step = 0);

}  // namespace sonde
