#include "analysis/structure/cores/divergence.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace sonde {
namespace {

TEST(DivergenceTest, paths_overlap_if_they_share_half_of_the_shorter_one) {
  const PathSpan first{.path = 0, .begin_cycles = 100, .end_cycles = 200};
  EXPECT_FALSE(some_overlap(std::vector{first, PathSpan{1, 200, 300}}));
  EXPECT_FALSE(some_overlap(std::vector{first, PathSpan{1, 190, 290}}));
  EXPECT_TRUE(some_overlap(std::vector{first, PathSpan{1, 110, 210}}));
  EXPECT_TRUE(some_overlap(std::vector{first, PathSpan{1, 140, 150}}));
}

TEST(DivergenceTest, only_whole_orders_tell_the_side_that_runs_first) {
  EXPECT_EQ(first_run(std::vector{3, 2, 1, 0}), "taken");
  EXPECT_EQ(first_run(std::vector{0, 1, 2, 3}), "fall_through");
  EXPECT_EQ(first_run(std::vector{1, 0, 2, 3}), std::nullopt);
  EXPECT_EQ(first_run(std::vector{0}), std::nullopt);
}

/// Stamps of 64 threads: when both halves left the barrier, and when the other warp came.
std::vector<std::uint64_t> at_barrier(std::uint64_t lower, std::uint64_t upper,
                                      const std::vector<std::uint64_t>& arrivals) {
  std::vector<std::uint64_t> cycles(64, 0);
  std::fill_n(cycles.begin(), 16, lower);
  std::fill_n(cycles.begin() + 16, 16, upper);
  std::ranges::copy(arrivals, cycles.begin() + 32);
  return cycles;
}

TEST(DivergenceTest, a_barrier_of_paths_waits_for_nobody) {
  EXPECT_EQ(barrier_participant(at_barrier(20, 30, {})), "path");
  EXPECT_EQ(barrier_participant(at_barrier(20, 30, {1000})), "path");
}

TEST(DivergenceTest, other_stamps_at_a_barrier_fit_nothing) {
  EXPECT_EQ(barrier_participant(at_barrier(0, 1020, {1000})), std::nullopt);
  EXPECT_EQ(barrier_participant(at_barrier(20, 1020, {1000})), std::nullopt);
  EXPECT_EQ(barrier_participant(at_barrier(2020, 2030, {1000, 2000})), std::nullopt);
  EXPECT_EQ(barrier_participant(at_barrier(3020, 1030, {1000, 2000, 3000})), std::nullopt);
  EXPECT_EQ(barrier_participant(std::vector<std::uint64_t>(32, 5)), std::nullopt);
}

}  // namespace
}  // namespace sonde
