// How large a deviation must be to matter, and how large it may be by chance in a healthy group.
#pragma once

#include "analysis/metrics.hpp"
#include "analysis/results.hpp"

#include <cstddef>

namespace sonde {

/// A difference of fewer standard deviations may be chance.
inline constexpr double within_factor = 3;
/// Least scatter of healthy devices, as a fraction of the median.
inline constexpr double scale_floor_fraction = 0.005;

/// With fewer devices a score says too little: a cut that is rarely wrong would be above 8 and miss
/// half of the real defects. Tolerances decide then.
inline constexpr std::size_t least_scored_devices = 9;

/// Cuts on the largest |score| of a group of n devices: 1 % or 0.1 % of healthy groups exceed them.
/// Calibrated by simulation: a fixed cut of 3.5 would flag a device in one of ten healthy groups.
struct Calibration {
  std::size_t n = 0;
  double cut_1_percent = 0;
  double cut_01_percent = 0;
};

/// From a table: interpolated in log n, constant beyond its ends. @pre n >= 3
Calibration calibration_for(std::size_t n);

/// Robust standard deviations beyond which a device deviates, among n that agree: 5 for fewer than
/// 9; the 1 % cut for fewer than 16; else the 0.1 % cut, as a run compares hundreds of metrics.
double score_limit(std::size_t n);

/// Smallest step of a value: clocks count whole cycles. 0: none.
inline double resolution_of(const Metric& metric) { return metric.unit == "cycle" ? 1 : 0; }
/// Steps by which values of equal devices may differ.
inline constexpr double least_steps = 1.5;

/// True if a difference of this sign is for the worse; false if no direction is better.
bool is_worse(Better better, double difference);

/// Relative distance of a value from the expected interval; 0 if that is less than the tolerance,
/// least_steps, or chance.
double unexplained_fraction(const Metric& metric, double value, const Interval& expected,
                            double tolerance, double by_chance);

/// Exact numbers agree if they are equal within 0.1 % (a search may miss lines); intervals if they
/// overlap, or are at most the tolerance apart (a fraction of the capacity; about half of it if one
/// is exact).
bool capacities_agree(const Interval& a, const Interval& b, double tolerance);

}  // namespace sonde
