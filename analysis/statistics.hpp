// Robust statistics that every inference starts from: orders, spreads, modes and lines. Pure
// functions on plain vectors; nothing here knows what the numbers mean.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace sonde {

/// Middle of the values; the mean of the two middle ones if their number is even. NaN if empty.
double median(std::vector<double> values);
double median(std::span<const std::uint32_t> values);
/// The same, and leaves the values in another order: for many medians in a row.
double median_in_place(std::span<double> values);

/// Median absolute deviation from the median, unscaled. NaN if empty.
double median_absolute_deviation(std::span<const double> values);
/// Times it, the standard deviation of normal values (Rousseeuw and Croux 1993).
inline constexpr double normal_scale = 1.4826;

/// Quantile by linear interpolation between order statistics (Hyndman and Fan 1996, type 7).
/// `fraction` in 0..1. NaN if empty.
double quantile(std::vector<double> values, double fraction);

/// Mean of what is left when `cut_fraction` of the values is dropped at each end. Resolves below
/// one unit where values are whole (cycles) and jitter, as no median can. NaN if empty.
double trimmed_mean(std::vector<double> values, double cut_fraction);

/// A group of values on a line.
struct Mode {
  double center = 0;  // median of the group
  double low = 0;     // smallest and largest value of the group
  double high = 0;
  std::uint64_t count = 0;
};

/// Groups of values that keep together: sorted values are cut wherever two neighbours lie more
/// than `gap` apart; groups with less than `least_fraction` of all values are left out (outliers).
/// Ascending by center.
std::vector<Mode> find_modes(std::vector<double> values, double gap, double least_fraction);

/// The best cut of the values into a low and a high part, where groups touch and find_modes sees
/// one: least sum of squares within the parts (Otsu 1979; Jenks with two classes).
struct TwoModes {
  Mode low;
  Mode high;
  double threshold = 0;           // halfway between the parts' nearest values
  double explained_fraction = 0;  // of the variance, 0..1: a uniform spread gives 0.75
};
/// @pre at least 2 values. If all are equal the high part is empty and nothing is explained.
TwoModes split_in_two(std::vector<double> values);

struct LinearFit {
  double intercept = 0;
  double slope = 0;
  double r2 = 0;  // 1 if y does not vary and the line meets it
};
/// Ordinary least squares of y on x. @throws Error if the sizes differ, or there are not two
/// different x.
LinearFit fit_line(std::span<const double> x, std::span<const double> y);

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
