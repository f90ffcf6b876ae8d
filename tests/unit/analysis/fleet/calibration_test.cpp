#include "analysis/fleet/calibration.hpp"

#include "unit/analysis/fleet/simulate_calibration.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace sonde {
namespace {

TEST(CalibrationTest, simulation_gives_the_committed_table_again) {
  for (const Calibration& row : calibration_table()) {
    if (row.n > 64) continue;  // seconds each; the tool covers them

    const Calibration again = simulate_calibration(row.n, 20000, 12345);

    EXPECT_NEAR(again.cut_10_percent, row.cut_10_percent, 0.04 * row.cut_10_percent) << row.n;
    EXPECT_NEAR(again.cut_1_percent, row.cut_1_percent, 0.20 * row.cut_1_percent) << row.n;
  }
}

TEST(CalibrationTest, cuts_fall_between_the_rows_of_the_table) {
  EXPECT_DOUBLE_EQ(score_cut(64, 0.01), 4.39);
  EXPECT_DOUBLE_EQ(score_cut(64, 0.001), 5.28);
  EXPECT_GT(score_cut(20, 0.01), score_cut(24, 0.01));
  EXPECT_LT(score_cut(20, 0.01), score_cut(16, 0.01));
  EXPECT_DOUBLE_EQ(score_cut(100000, 0.01), score_cut(1024, 0.01));
  EXPECT_DOUBLE_EQ(score_cut(64, 1e-9), score_cut(64, 0.001));
}

TEST(CalibrationTest, p_values_meet_the_cuts) {
  for (const std::size_t n : {4u, 16u, 64u, 256u}) {
    const ScoreTail tail = fit_score_tail(n);

    const double p = score_p_value(score_cut(n, 0.01), tail);

    EXPECT_NEAR(1 - std::pow(1 - p, n), 0.01, 1e-4) << n;
  }
}

TEST(CalibrationTest, discoveries_step_up_as_benjamini_and_hochberg_do) {
  // Lines at q = 0.05: 0.0125, 0.025, 0.0375, 0.05. The third is below its line, so the second is
  // found although it is above its own.
  EXPECT_EQ(discoveries(std::vector{0.001, 0.03, 0.036, 0.9}, 0.05, 4),
            (std::vector{true, true, true, false}));
  EXPECT_EQ(discoveries(std::vector{0.9, 0.02, 0.8, 0.7}, 0.05, 4),
            (std::vector{false, false, false, false}));
  EXPECT_TRUE(discoveries({}, 0.05, 0).empty());
}

TEST(CalibrationTest, tests_with_large_p_values_count_although_they_are_left_out) {
  EXPECT_EQ(discoveries(std::vector{0.001, 0.03, 0.036}, 0.05, 4), (std::vector{true, true, true}));
  EXPECT_EQ(discoveries(std::vector{0.001, 0.03, 0.036}, 0.05, 5),
            (std::vector{true, false, false}));
}

TEST(CalibrationTest, a_score_has_the_p_value_that_it_was_asked_for) {
  const ScoreTail tail = fit_score_tail(64);

  for (const double p : {0.5, 0.05, 1e-6}) {
    EXPECT_NEAR(score_p_value(score_at(p, tail), tail), p, 1e-9 * p);
  }
}

}  // namespace
}  // namespace sonde
