#include "analysis/structure/cores/constant_rates.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

namespace sonde {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

TEST(ConstantRatesTest, a_curve_that_is_flat_over_few_counts_has_no_plateau_yet) {
  const std::vector<double> blocks{16, 20, 24, 30};
  EXPECT_FALSE(find_plateau(blocks, std::vector{16., 20., 23.5, 24.}));
  EXPECT_TRUE(find_plateau(blocks, std::vector{16., 20., 20.2, 20.}));  // from 20 to 30
}

TEST(ConstantRatesTest, groups_that_are_not_known_or_hardly_differ_are_not_named) {
  EXPECT_EQ(find_bottleneck({.alone = 1, .in_tpc = 1, .in_gpc = nan, .in_all = 0.3}),
            "gpc or device");
  EXPECT_EQ(find_bottleneck({.alone = 1, .in_tpc = nan, .in_gpc = nan, .in_all = 0.3}),
            std::nullopt);
  EXPECT_EQ(find_bottleneck({.alone = 1, .in_tpc = nan, .in_gpc = nan, .in_all = 1}), "sm");
  EXPECT_EQ(find_bottleneck({.alone = 1, .in_tpc = 1, .in_gpc = 1, .in_all = 0.85}), std::nullopt);
}

}  // namespace
}  // namespace sonde
