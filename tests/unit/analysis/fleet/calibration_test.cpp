#include "unit/analysis/fleet/simulate_calibration.hpp"

#include <gtest/gtest.h>

namespace sonde {
namespace {

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
