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

}  // namespace
}  // namespace sonde
