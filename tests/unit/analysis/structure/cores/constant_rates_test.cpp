#include "analysis/structure/cores/constant_rates.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace sonde {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

LaneTrace lane(std::uint64_t accesses, std::uint64_t elapsed_cycles) {
  LaneTrace made;
  made.accesses = accesses;
  made.elapsed_cycles = elapsed_cycles;
  return made;
}

TEST(ConstantRatesTest, the_last_block_ends_the_time_of_all) {
  EXPECT_DOUBLE_EQ(total_bytes_per_cycle(std::vector{lane(100, 1000)}, 64), 6.4);
  EXPECT_DOUBLE_EQ(total_bytes_per_cycle(std::vector{lane(100, 1000), lane(100, 2000)}, 64), 6.4);
  EXPECT_TRUE(std::isnan(total_bytes_per_cycle({}, 64)));
  EXPECT_TRUE(std::isnan(total_bytes_per_cycle(std::vector{lane(100, 0)}, 64)));
}

TEST(ConstantRatesTest, a_plateau_begins_where_more_blocks_bring_no_more) {
  const std::vector<double> blocks{1, 2, 4, 8, 10, 16, 20, 30};
  const auto plateau = find_plateau(blocks, std::vector{1.2, 2.4, 4.8, 8.6, 9.75, 9.6, 9.8, 9.75});
  ASSERT_TRUE(plateau);
  EXPECT_EQ(plateau->first_blocks, 10);
  EXPECT_NEAR(plateau->bytes_per_cycle, 9.75, 0.01);

  EXPECT_FALSE(find_plateau(blocks, std::vector{1.2, 2.4, 4.8, 9.6, 12., 19.2, 24., 36.}));
}

TEST(ConstantRatesTest, a_curve_that_is_flat_over_few_counts_has_no_plateau_yet) {
  const std::vector<double> blocks{16, 20, 24, 30};
  EXPECT_FALSE(find_plateau(blocks, std::vector{16., 20., 23.5, 24.}));
  EXPECT_TRUE(find_plateau(blocks, std::vector{16., 20., 20.2, 20.}));  // from 20 to 30
}

TEST(ConstantRatesTest, one_point_alone_is_no_plateau) {
  EXPECT_FALSE(find_plateau(std::vector{1.}, std::vector{5.}));
  EXPECT_FALSE(find_plateau({}, {}));
}

TEST(ConstantRatesTest, the_bottleneck_is_the_smallest_group_that_gets_no_more_than_all) {
  EXPECT_EQ(find_bottleneck({.alone = 1, .in_tpc = 1, .in_gpc = 1, .in_all = 0.99}), "sm");
  EXPECT_EQ(find_bottleneck({.alone = 1, .in_tpc = 0.5, .in_gpc = 0.5, .in_all = 0.49}), "tpc");
  EXPECT_EQ(find_bottleneck({.alone = 1, .in_tpc = 1, .in_gpc = 0.2, .in_all = 0.2}), "gpc");
  EXPECT_EQ(find_bottleneck({.alone = 1, .in_tpc = 1, .in_gpc = 0.9, .in_all = 0.3}), "device");
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
