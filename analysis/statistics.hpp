// Robust statistics for every inference: medians, deviations, modes and lines. Pure.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace sonde {

/// The mean of the two middle values if their number is even. NaN if empty.
double median(std::vector<double> values);
double median(std::span<const std::uint32_t> values);
/// The same, but reorders the values; faster.
double median_in_place(std::span<double> values);

/// Median absolute deviation from the median, unscaled. NaN if empty.
double median_absolute_deviation(std::span<const double> values);
/// Factor from this deviation to a normal standard deviation (Rousseeuw and Croux 1993).
inline constexpr double normal_scale = 1.4826;

/// Quantile by linear interpolation between order statistics (Hyndman and Fan 1996, type 7).
/// `fraction` is in 0..1. NaN if empty.
double quantile(std::vector<double> values, double fraction);

/// Mean after dropping `cut_fraction` of the values at each end. Unlike a median, it resolves less
/// than one unit if values are whole cycles with jitter. NaN if empty.
double trimmed_mean(std::vector<double> values, double cut_fraction);

/// A group of values on a line.
struct Mode {
  double center = 0;  // median of the group
  double low = 0;     // smallest and largest value
  double high = 0;
  std::uint64_t count = 0;
};

/// Groups of neighbouring values, ascending: cuts the sorted values at every gap larger than `gap`.
/// Leaves out groups with less than `least_fraction` of all values (outliers).
std::vector<Mode> find_modes(std::vector<double> values, double gap, double least_fraction);

/// The best cut into a low and a high part, also if the parts touch: least sum of squares within
/// the parts (Otsu 1979; Jenks with two classes).
struct TwoModes {
  Mode low;
  Mode high;
  double threshold = 0;           // halfway between the nearest values of the parts
  double explained_fraction = 0;  // part of the variance, 0..1; a uniform distribution gives 0.75
};
/// If all are equal, the high part is empty and explained_fraction is 0.
/// @throws Error for fewer than two values
TwoModes split_in_two(std::vector<double> values);

struct LinearFit {
  double intercept = 0;
  double slope = 0;
  double r2 = 0;  // 1 if all y are equal and on the line
};
/// Ordinary least squares of y on x. @throws Error if the sizes differ, or if all x are equal
LinearFit fit_line(std::span<const double> x, std::span<const double> y);

/// A least-squares line over time: its values at the first and the last time.
struct Trend {
  double first = 0;
  double last = 0;
  double deviation = 0;  // standard deviation of last - first
  /// Probability of so large a change, up or down, if values did not depend on time: Student's t
  /// with n - 2 degrees of freedom.
  double p_value = 1;

  double change() const { return last - first; }
  double fraction() const { return first != 0 ? change() / first : 0; }
  double deviations() const { return deviation > 0 ? change() / deviation : 0; }
};

/// @param times, values [n] one per measurement, in any order and unit
/// @param step of the values: the scatter is taken to be at least that of rounding to it
/// @returns the mean with p_value 1 for fewer than three values or a single time
/// @throws Error if the sizes differ
Trend fit_trend(std::span<const double> times, std::span<const double> values, double step = 0);

}  // namespace sonde
