// How far out a healthy device of n may lie by chance: cuts for robust scores, calibrated by
// simulation because |score| > 3.5 flags some device in one of ten healthy groups.
#pragma once

#include <cstddef>
#include <span>

namespace sonde {

/// Below this many devices a score says too little: a cut that is rarely wrong would lie beyond 8
/// and miss half of the real defects. Tolerances decide there.
inline constexpr std::size_t least_scored_devices = 9;

/// Cuts on the largest |score| in a group of n that one of a hundred, and one of a thousand healthy
/// groups passes.
struct Calibration {
  std::size_t n = 0;
  double cut_1_percent = 0;
  double cut_01_percent = 0;
};

/// The committed table, ascending by n.
std::span<const Calibration> calibration_table();

/// The row for n: interpolated in log n, held at the ends of the table. @pre n >= 3
Calibration calibration_for(std::size_t n);

/// Robust standard deviations beyond which a device is out, among n that agree: fewer than nine: 5;
/// fewer than 16: the cut of 1 %; else that of 0.1 %, as a run compares hundreds of metrics.
double score_limit(std::size_t n);

}  // namespace sonde
