// CTA size and CTAs per SM fold into active warps.
#include "analysis/warp_matrix.hpp"

#include <gtest/gtest.h>

namespace sonde {
namespace {

TEST(WarpMatrixTest, warps_are_those_of_all_blocks) {
  EXPECT_EQ(active_warps({.block_threads = 256, .blocks = 3, .ilp = 1}, 32), 24);
  EXPECT_EQ(active_warps({.block_threads = 33, .blocks = 2, .ilp = 1}, 32), 4);
  EXPECT_EQ(active_warps({.block_threads = 64, .blocks = 1, .ilp = 1}, 64), 1);
}

TEST(WarpMatrixTest, the_best_of_equal_warps_and_ilp_counts) {
  const std::vector<SurfacePoint> points{{{.block_threads = 64, .blocks = 2, .ilp = 1}, 10},
                                         {{.block_threads = 128, .blocks = 1, .ilp = 1}, 12},
                                         {{.block_threads = 32, .blocks = 4, .ilp = 1}, 9},
                                         {{.block_threads = 128, .blocks = 1, .ilp = 4}, 30},
                                         {{.block_threads = 32, .blocks = 1, .ilp = 4}, 8}};
  const std::vector<WarpPoint> matrix = best_by_warps(points, 32);
  ASSERT_EQ(matrix.size(), 3u);
  EXPECT_EQ(matrix[0].warps, 1);
  EXPECT_EQ(matrix[0].ilp, 4);
  EXPECT_EQ(matrix[1].warps, 4);
  EXPECT_EQ(matrix[1].ilp, 1);
  EXPECT_EQ(matrix[1].throughput, 12);
  EXPECT_EQ(matrix[2].ilp, 4);
  EXPECT_EQ(matrix[2].throughput, 30);
}

TEST(WarpMatrixTest, nothing_gives_nothing) { EXPECT_TRUE(best_by_warps({}, 32).empty()); }

}  // namespace
}  // namespace sonde
