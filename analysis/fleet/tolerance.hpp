// How large a deviation must be to matter, and how far out a healthy device of n may lie by chance.
#pragma once

#include "analysis/metrics.hpp"
#include "analysis/results.hpp"

#include <cstddef>

namespace sonde {

/// Standard deviations of a difference, or of a value to its tolerance, that chance explains.
inline constexpr double within_factor = 3;
/// Of the median: no scatter is believed to be smaller.
inline constexpr double scale_floor_fraction = 0.005;

/// Below this many devices a score says too little: a cut that is rarely wrong would lie beyond 8
/// and miss half of the real defects. Tolerances decide there.
inline constexpr std::size_t least_scored_devices = 9;

/// Cuts on the largest |score| in a group of n that one of a hundred, and one of a thousand healthy
/// groups passes: calibrated by simulation, as |score| > 3.5 flags some device in one of ten.
struct Calibration {
  std::size_t n = 0;
  double cut_1_percent = 0;
  double cut_01_percent = 0;
};

/// From the committed table: interpolated in log n, held at its ends. @pre n >= 3
Calibration calibration_for(std::size_t n);

/// Robust standard deviations beyond which a device is out, among n that agree: fewer than nine: 5;
/// fewer than 16: the cut of 1 %; else that of 0.1 %, as a run compares hundreds of metrics.
double score_limit(std::size_t n);

/// Smallest step of a value: clocks count whole cycles. 0: there is none.
inline double resolution_of(const Metric& metric) { return metric.unit == "cycle" ? 1 : 0; }
/// Steps that two values of equal devices may lie apart.
inline constexpr double least_steps = 1.5;

/// Whether a difference of that sign is one for the worse; never where no direction is better.
bool is_worse(Better better, double difference);

/// By which fraction a value lies above or below what was expected. 0 if that is less than the
/// tolerance, least_steps, or what chance explains.
double unexplained_fraction(const Metric& metric, double value, const Interval& expected,
                            double tolerance, double by_chance);

/// Whether two capacities agree: exact ones if they are equal, others if their intervals overlap or
/// are no further apart than the tolerance, a fraction of the capacity (half of that if one is
/// exact).
bool capacities_agree(const Interval& a, const Interval& b, double tolerance);

}  // namespace sonde
