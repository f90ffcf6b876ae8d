// The cuts on scores, and the simulation that makes their table (analysis/fleet/tolerance.cpp).
#include "analysis/fleet/tolerance.hpp"
#include "analysis/statistics.hpp"
#include "base/random.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <boost/math/distributions/normal.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

namespace sonde {
namespace {

/// Plays `groups` healthy groups of n Gaussian devices and returns the row of the table for n.
Calibration simulate_calibration(std::size_t n, std::size_t groups, std::uint64_t seed) {
  Random random(seed);
  const boost::math::normal normal;
  std::vector<double> largest_scores(groups);
  std::vector<double> values(n);
  for (double& largest : largest_scores) {
    for (double& value : values) {
      value = boost::math::quantile(normal, std::max(random.unit(), 1e-15));
    }
    const double center = median(values);
    const double scale = 1.4826 * median_absolute_deviation(values);
    largest = 0;
    for (const double value : values) largest = std::max(largest, std::abs(value - center) / scale);
  }
  return {.n = n,
          .cut_1_percent = quantile(largest_scores, 0.99),
          .cut_01_percent = quantile(largest_scores, 0.999)};
}

/// --gtest_also_run_disabled_tests --gtest_filter=*prints_the_table
TEST(CalibrationTest, DISABLED_prints_the_table) {
  for (const std::size_t n :
       {3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 24, 32, 48, 64, 128, 256, 1024}) {
    const Calibration row = simulate_calibration(n, 200000, 1);
    fmt::print("    Calibration{{{}, {:.2f}, {:.2f}}},\n", n, row.cut_1_percent,
               row.cut_01_percent);
  }
}

TEST(CalibrationTest, simulation_gives_the_committed_table_again) {
  for (const std::size_t n : {3, 5, 8, 9, 15, 16, 24, 64}) {
    EXPECT_NEAR(simulate_calibration(n, 20000, 12345).cut_1_percent,
                calibration_for(n).cut_1_percent, 0.20 * calibration_for(n).cut_1_percent)
        << n;
  }
}

TEST(CalibrationTest, cuts_fall_between_the_rows_of_the_table) {
  EXPECT_DOUBLE_EQ(calibration_for(64).cut_1_percent, 4.39);
  EXPECT_DOUBLE_EQ(calibration_for(64).cut_01_percent, 5.28);
  EXPECT_GT(calibration_for(20).cut_1_percent, calibration_for(24).cut_1_percent);
  EXPECT_LT(calibration_for(20).cut_1_percent, calibration_for(16).cut_1_percent);
  EXPECT_DOUBLE_EQ(calibration_for(100000).cut_1_percent, calibration_for(1024).cut_1_percent);
}

TEST(CalibrationTest, groups_of_16_and_more_are_judged_by_the_stricter_cut) {
  EXPECT_EQ(score_limit(8), 5);
  EXPECT_DOUBLE_EQ(score_limit(9), 8.21);
  EXPECT_DOUBLE_EQ(score_limit(15), 5.96);
  EXPECT_DOUBLE_EQ(score_limit(16), 8.33);
}

}  // namespace
}  // namespace sonde
