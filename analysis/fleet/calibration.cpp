// The table of cuts, its interpolation, and the tail and the discoveries that follow from it.
#include "analysis/fleet/calibration.hpp"

#include <boost/math/distributions/students_t.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

namespace sonde {
namespace {

// Made by `calibrate_scores 200000 1` (tests/unit/analysis/fleet/calibrate_scores.cpp).
constexpr std::array table{
    Calibration{3, 10.74, 113.77, 1277.95}, Calibration{4, 4.76, 16.29, 50.86},
    Calibration{5, 5.37, 18.49, 58.69},     Calibration{6, 4.20, 10.13, 22.81},
    Calibration{7, 4.39, 10.68, 24.28},     Calibration{8, 3.90, 8.00, 14.49},
    Calibration{9, 4.02, 8.21, 15.16},      Calibration{10, 3.74, 6.85, 11.58},
    Calibration{11, 3.82, 7.04, 12.03},     Calibration{12, 3.65, 6.24, 9.78},
    Calibration{13, 3.72, 6.36, 10.00},     Calibration{14, 3.59, 5.88, 8.84},
    Calibration{15, 3.64, 5.96, 8.97},      Calibration{16, 3.54, 5.61, 8.33},
    Calibration{24, 3.46, 4.99, 6.62},      Calibration{32, 3.43, 4.73, 6.14},
    Calibration{48, 3.43, 4.50, 5.54},      Calibration{64, 3.44, 4.39, 5.28},
    Calibration{128, 3.52, 4.28, 4.93},     Calibration{256, 3.64, 4.30, 4.88},
    Calibration{1024, 3.92, 4.48, 4.97},
};

double interpolate(double x, double x0, double x1, double y0, double y1) {
  return x1 == x0 ? y0 : y0 + (y1 - y0) * (x - x0) / (x1 - x0);
}

/// The row for n, between the rows of the table.
Calibration row_for(std::size_t n) {
  const auto above = std::ranges::lower_bound(table, n, {}, &Calibration::n);
  if (above == table.begin()) return table.front();
  if (above == table.end()) return table.back();
  const Calibration& low = *(above - 1);
  const auto at = [&](double Calibration::*cut) {
    const auto log_of = [](std::size_t m) { return std::log(static_cast<double>(m)); };
    return std::exp(interpolate(log_of(n), log_of(low.n), log_of(above->n), std::log(low.*cut),
                                std::log((*above).*cut)));
  };
  return {.n = n,
          .cut_10_percent = at(&Calibration::cut_10_percent),
          .cut_1_percent = at(&Calibration::cut_1_percent),
          .cut_01_percent = at(&Calibration::cut_01_percent)};
}

/// Share of single devices beyond a cut that a share of whole groups is beyond.
double device_share(double group_share, std::size_t n) {
  return -std::expm1(std::log1p(-group_share) / static_cast<double>(n));
}

double t_quantile(double two_sided_share, double degrees) {
  const boost::math::students_t distribution(degrees);
  return boost::math::quantile(boost::math::complement(distribution, two_sided_share / 2));
}

}  // namespace

std::span<const Calibration> calibration_table() { return table; }

double score_cut(std::size_t n, double false_alarm) {
  const Calibration row = row_for(n);
  const double share = std::log10(std::clamp(false_alarm, 0.001, 0.1));
  return share >= -2 ? interpolate(share, -2, -1, row.cut_1_percent, row.cut_10_percent)
                     : std::exp(interpolate(share, -3, -2, std::log(row.cut_01_percent),
                                            std::log(row.cut_1_percent)));
}

ScoreTail fit_score_tail(std::size_t n) {
  const Calibration row = row_for(n);
  const double share_1 = device_share(0.01, row.n);
  const double share_01 = device_share(0.001, row.n);
  const double wanted = row.cut_01_percent / row.cut_1_percent;
  double low = 0.5;  // the ratio of the two quantiles falls with the degrees of freedom
  double high = 1e4;
  for (int step = 0; step < 50; ++step) {
    const double middle = std::sqrt(low * high);
    const double ratio = t_quantile(share_01, middle) / t_quantile(share_1, middle);
    (ratio > wanted ? low : high) = middle;
  }
  const double degrees = std::sqrt(low * high);
  return {.degrees = degrees, .scale = row.cut_1_percent / t_quantile(share_1, degrees)};
}

double score_p_value(double score, const ScoreTail& tail) {
  const boost::math::students_t distribution(tail.degrees);
  return 2 * boost::math::cdf(boost::math::complement(distribution, std::abs(score) / tail.scale));
}

double score_at(double p_value, const ScoreTail& tail) {
  return tail.scale * t_quantile(p_value, tail.degrees);
}

std::vector<bool> discoveries(std::span<const double> p_values, double q, std::size_t tests) {
  std::vector<std::size_t> order(p_values.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::sort(order, {}, [&](std::size_t i) { return p_values[i]; });
  std::size_t count = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const double line = q * static_cast<double>(i + 1) / static_cast<double>(tests);
    if (p_values[order[i]] <= line) count = i + 1;
  }
  std::vector<bool> found(p_values.size(), false);
  for (std::size_t i = 0; i < count; ++i) found[order[i]] = true;
  return found;
}

}  // namespace sonde
