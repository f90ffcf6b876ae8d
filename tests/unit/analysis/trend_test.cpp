#include "analysis/statistics.hpp"

#include "base/error.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace sonde {
namespace {

const std::vector<double> hours{0, 1, 2, 3, 4};

/// Slope 0.6, residual squares 5.2, standard error sqrt(5.2 / 3 / 10), t = 1.4412; with 3 degrees
/// of freedom its distribution has a closed form: 1/2 + (t / sqrt(3) / (1 + t^2 / 3) + atan(t /
/// sqrt(3))) / pi.
TEST(TrendTest, the_chance_is_that_of_students_t) {
  const Trend trend = fit_trend(hours, std::vector<double>{1, 3, 2, 5, 3});
  EXPECT_NEAR(trend.change(), 2.4, 1e-12);
  EXPECT_NEAR(trend.deviation, 4 * 0.4163332, 1e-6);
  EXPECT_NEAR(trend.deviations(), 1.4411534, 1e-6);
  EXPECT_NEAR(trend.p_value, 0.2451939, 1e-6);
}

TEST(TrendTest, values_that_are_rounded_scatter_by_their_step_at_least) {
  const std::vector<double> cycles{30, 31, 32, 33, 34};
  EXPECT_EQ(fit_trend(hours, cycles).p_value, 0);
  const Trend line = fit_trend(hours, cycles, 1);
  EXPECT_GT(line.p_value, 0);
  EXPECT_NEAR(line.deviation, 4 * 0.0912871, 1e-6);  // 4 sqrt(1 / 12 / 10)
}

TEST(TrendTest, two_values_or_one_time_have_no_trend) {
  EXPECT_EQ(fit_trend(std::vector<double>{0, 1}, std::vector<double>{1, 9}).p_value, 1);
  EXPECT_EQ(fit_trend(std::vector<double>{5, 5, 5}, std::vector<double>{1, 2, 9}).last, 4);
  EXPECT_EQ(fit_trend({}, {}).p_value, 1);
  EXPECT_THROW(fit_trend(hours, std::vector<double>{1}), Error);
}

}  // namespace
}  // namespace sonde
