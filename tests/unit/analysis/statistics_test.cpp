#include "analysis/statistics.hpp"

#include "base/error.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace sonde {
namespace {

TEST(StatisticsTest, median_takes_the_middle_and_ignores_outliers) {
  EXPECT_DOUBLE_EQ(median(std::vector<double>{5, 1, 1e9}), 5);
  EXPECT_DOUBLE_EQ(median(std::vector<double>{4, 1, 2, 3}), 2.5);
  EXPECT_TRUE(std::isnan(median(std::vector<double>{})));
}

TEST(StatisticsTest, quantile_interpolates_between_order_statistics) {
  EXPECT_DOUBLE_EQ(quantile({10, 20, 30, 40}, 0.5), 25);
  EXPECT_DOUBLE_EQ(quantile({10, 20, 30, 40}, 0.25), 17.5);
  EXPECT_DOUBLE_EQ(quantile({10, 20, 30, 40}, 1), 40);
}

TEST(StatisticsTest, trimmed_mean_resolves_below_one_and_drops_outliers) {
  EXPECT_DOUBLE_EQ(trimmed_mean({30, 31, 31, 30, 31, 31, 30, 30, 0, 9000}, 0.1), 30.5);
  EXPECT_DOUBLE_EQ(trimmed_mean({7}, 0.5), 7);
}

TEST(StatisticsTest, modes_are_cut_at_gaps_and_rare_ones_left_out) {
  const auto modes = find_modes({200, 201, 202, 201, 260, 261, 262, 261, 900}, 10, 0.2);
  ASSERT_EQ(modes.size(), 2u);
  EXPECT_DOUBLE_EQ(modes[0].center, 201);
  EXPECT_DOUBLE_EQ(modes[1].low, 260);
  EXPECT_EQ(modes[1].count, 4u);
}

TEST(StatisticsTest, two_touching_groups_are_split_where_variance_says) {
  const TwoModes split = split_in_two({10, 11, 12, 11, 11, 20, 21, 22, 21});
  EXPECT_DOUBLE_EQ(split.threshold, 16);
  EXPECT_EQ(split.low.count, 5u);
  EXPECT_DOUBLE_EQ(split.high.center, 21);
  EXPECT_GT(split.explained_fraction, 0.95);
}

TEST(StatisticsTest, line_is_fitted_with_its_r2) {
  const std::vector<double> x{1, 2, 3, 4};
  const LinearFit exact = fit_line(x, std::vector<double>{5, 7, 9, 11});
  EXPECT_DOUBLE_EQ(exact.slope, 2);
  EXPECT_DOUBLE_EQ(exact.intercept, 3);
  EXPECT_DOUBLE_EQ(exact.r2, 1);
  const LinearFit loose = fit_line(x, std::vector<double>{1, -1, 1, -1});
  EXPECT_NEAR(loose.r2, 0.2, 1e-12);
}

TEST(StatisticsTest, line_through_one_x_is_refused) {
  const std::vector<double> x{2, 2};
  EXPECT_THROW(fit_line(x, x), Error);
}

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
