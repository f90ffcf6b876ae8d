#include "analysis/fleet/tolerance.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace sonde {
namespace {

// For fewer than nine devices. A larger score proves no fault, a smaller one is usual scatter. It
// lies between the scores that 10 % of healthy groups of 3 and of 4 devices exceed.
constexpr double small_group_limit = 5;
constexpr std::size_t least_strict_devices = 16;

// Made by simulation: tests/unit/analysis/fleet/calibration_test.cpp prints it.
constexpr std::array table{
    Calibration{3, 113.77, 1277.95}, Calibration{4, 16.29, 50.86}, Calibration{5, 18.49, 58.69},
    Calibration{6, 10.13, 22.81},    Calibration{7, 10.68, 24.28}, Calibration{8, 8.00, 14.49},
    Calibration{9, 8.21, 15.16},     Calibration{10, 6.85, 11.58}, Calibration{11, 7.04, 12.03},
    Calibration{12, 6.24, 9.78},     Calibration{13, 6.36, 10.00}, Calibration{14, 5.88, 8.84},
    Calibration{15, 5.96, 8.97},     Calibration{16, 5.61, 8.33},  Calibration{24, 4.99, 6.62},
    Calibration{32, 4.73, 6.14},     Calibration{48, 4.50, 5.54},  Calibration{64, 4.39, 5.28},
    Calibration{128, 4.28, 4.93},    Calibration{256, 4.30, 4.88}, Calibration{1024, 4.48, 4.97},
};

// A search may miss some lines (seen: 2 of 245,760). A broken part of a GPU (a way, set or slice)
// is a larger fraction of a structure.
constexpr double search_error = 1e-3;

/// Adds a margin: a gradual capacity differs a little between measurements.
Interval widened(const Interval& interval, double tolerance) {
  const double part = interval.low == interval.high ? search_error : tolerance;
  const double margin = part / 2 * std::abs(interval.high);
  return {.low = interval.low - margin, .high = interval.high + margin};
}

}  // namespace

Calibration calibration_for(std::size_t n) {
  const auto above = std::ranges::lower_bound(table, n, {}, &Calibration::n);
  if (above == table.begin()) return table.front();
  if (above == table.end()) return table.back();
  const Calibration& low = *(above - 1);
  const auto log_of = [](std::size_t m) { return std::log(static_cast<double>(m)); };
  const double share = (log_of(n) - log_of(low.n)) / (log_of(above->n) - log_of(low.n));
  const auto at = [&](double from, double to) {
    return std::exp(std::lerp(std::log(from), std::log(to), share));
  };
  return {.n = n,
          .cut_1_percent = at(low.cut_1_percent, above->cut_1_percent),
          .cut_01_percent = at(low.cut_01_percent, above->cut_01_percent)};
}

double score_limit(std::size_t n) {
  if (n < least_scored_devices) return small_group_limit;
  const Calibration cuts = calibration_for(n);
  return n < least_strict_devices ? cuts.cut_1_percent : cuts.cut_01_percent;
}

bool is_worse(Better better, double difference) {
  return (better == Better::lower && difference > 0) ||
         (better == Better::higher && difference < 0);
}

double unexplained_fraction(const Metric& metric, double value, const Interval& expected,
                            double tolerance, double by_chance) {
  const double nearest = std::clamp(value, expected.low, expected.high);
  const double difference = value - nearest;
  const double least =
      std::max({tolerance * std::abs(nearest), least_steps * resolution_of(metric), by_chance});
  return nearest == 0 || std::abs(difference) < least ? 0 : difference / std::abs(nearest);
}

bool capacities_agree(const Interval& a, const Interval& b, double tolerance) {
  const Interval one = widened(a, tolerance);
  const Interval other = widened(b, tolerance);
  return one.low <= other.high && other.low <= one.high;
}

}  // namespace sonde
