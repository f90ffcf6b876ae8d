#include "analysis/structure/latency/additive_map.hpp"

#include "base/random.hpp"

#include <gtest/gtest.h>

namespace sonde {
namespace {

TEST(AdditiveMapTest, shares_of_rows_and_columns_come_back) {
  const AdditiveFit fit = fit_additive({{101, 103, 99}, {111, 113, 109}});

  EXPECT_DOUBLE_EQ(fit.mean_cycles, 106);
  EXPECT_DOUBLE_EQ(fit.row_cycles[1], 5);
  EXPECT_DOUBLE_EQ(fit.column_cycles[2], -2);
  EXPECT_NEAR(fit.residual_cycles, 0, 1e-9);
  EXPECT_NEAR(fit.r2, 1, 1e-9);
}

TEST(AdditiveMapTest, what_depends_on_both_is_left) {
  const AdditiveFit fit = fit_additive({{1, -1}, {-1, 1}});

  EXPECT_DOUBLE_EQ(fit.residual_cycles, 1);
  EXPECT_DOUBLE_EQ(fit.r2, 0);
}

TEST(AdditiveMapTest, an_outlier_is_named_and_chance_is_not) {
  int named = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Random random(seed);
    std::vector<double> values;
    for (int i = 0; i < 94; ++i) {
      double sum = 0;  // of twelve: nearly normal, deviation 1
      for (int k = 0; k < 12; ++k) sum += random.unit();
      values.push_back(280 + sum);
    }
    named += find_high_outlier(values, 1).has_value();
    values[13] = 300;
    const auto outlier = find_high_outlier(values, 1);
    ASSERT_TRUE(outlier) << seed;
    EXPECT_EQ(outlier->place, 13u);
    EXPECT_NEAR(outlier->excess, 14, 1);
  }
  EXPECT_LE(named, 4);
}

TEST(AdditiveMapTest, equal_values_have_no_outlier_below_the_floor) {
  std::vector<double> values(20, 100.0);
  values[3] = 100.5;
  EXPECT_FALSE(find_high_outlier(values, 1));
  values[3] = 102;
  EXPECT_TRUE(find_high_outlier(values, 1));
}

}  // namespace
}  // namespace sonde
