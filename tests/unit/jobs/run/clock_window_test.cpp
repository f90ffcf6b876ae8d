// Medians of windows, and of values that no clock has in common.
#include "jobs/run/clock_window.hpp"

#include <gtest/gtest.h>

namespace sonde {
namespace {

double centre(const std::vector<double>& values) {
  return std::get<double>(found_median("shared.latency_cycles", values).value);
}

TEST(ClockWindowTest, windows_of_a_clock_in_steps_are_averaged_within_a_step) {
  EXPECT_DOUBLE_EQ(centre({40, 40, 40, 48}), 42);
  EXPECT_DOUBLE_EQ(centre({40, 40, 40, 48, 400}), 42) << "an outlier does not count";
  EXPECT_DOUBLE_EQ(centre({41, 41, 42, 41, 44}), 41) << "steps of one cycle";
}

TEST(ClockWindowTest, values_that_lie_far_apart_keep_their_median) {
  EXPECT_DOUBLE_EQ(centre({1'980'000'000, 1'980'000'404, 1'980'001'208, 1'980'002'412}),
                   1'980'000'806)
      << "of rates that differ by multiples of four";
}

}  // namespace
}  // namespace sonde
