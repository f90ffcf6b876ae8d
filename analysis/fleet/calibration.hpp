// How far out a healthy device of n may lie by chance: cuts for robust scores, calibrated by
// simulation because |score| > 3.5 flags some device in one of ten healthy groups.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace sonde {

/// Below this many devices a score says too little: a cut that is rarely wrong would lie beyond 8
/// and miss half of the real defects. Tolerances decide there.
inline constexpr std::size_t least_scored_devices = 9;
/// With so few no score proves anything, but one below this shows that the group itself scatters as
/// much. Between the 10 % cuts of 4 (4.8) and 3 devices in the calibration table.
inline constexpr double least_small_group_score = 5;

/// A cut on the largest |score| in a group of n, by the share of healthy groups it flags.
struct Calibration {
  std::size_t n = 0;
  double cut_10_percent = 0;
  double cut_1_percent = 0;
  double cut_01_percent = 0;
};

/// The committed table, ascending by n.
std::span<const Calibration> calibration_table();

/// The cut that flags a share `false_alarm` of healthy groups of n: interpolated in log n and log
/// share, held at the ends of the table, false_alarm kept within 0.001..0.1. @pre n >= 3
double score_cut(std::size_t n, double false_alarm);

/// Tail of a healthy device's score among n: Student's t whose degrees of freedom and scale meet
/// the table's 1 % and 0.1 % cuts (the MAD of a small group is itself uncertain). @pre n >= 3
struct ScoreTail {
  double degrees = 0;
  double scale = 0;
};
ScoreTail fit_score_tail(std::size_t n);

/// Two-sided p-value of a score.
double score_p_value(double score, const ScoreTail& tail);

/// The score above 0 with that two-sided p-value.
double score_at(double p_value, const ScoreTail& tail);

/// Benjamini and Hochberg 1995: which of the p-values are discoveries at rate q.
/// @param tests in all; p-values above q, which are never discoveries, may be left out
std::vector<bool> discoveries(std::span<const double> p_values, double q, std::size_t tests);

}  // namespace sonde
