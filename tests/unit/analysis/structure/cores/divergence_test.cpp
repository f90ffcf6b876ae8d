#include "analysis/structure/cores/divergence.hpp"

#include "base/error.hpp"

#include <gmock/gmock.h>

#include <numeric>

namespace sonde {
namespace {

using ::testing::ElementsAre;

/// A warp of four threads on two paths: path 1 runs from 120 to 150, then path 0 from 160 to 200.
LaneTrace two_paths() {
  LaneTrace lane;
  lane.warp = 3;
  lane.clock_cycles = {100, 160, 200, 210,   // path 0
                       100, 120, 150, 212,   // path 1
                       101, 161, 199, 210,   // path 0
                       100, 121, 149, 212};  // path 1
  return lane;
}

const std::vector<int> paths{0, 1, 0, 1};

TEST(DivergenceTest, a_path_lasts_from_its_first_thread_to_its_last) {
  const WarpStamps warp = read_warp(two_paths(), paths);

  ASSERT_EQ(warp.paths.size(), 2u);
  EXPECT_THAT(path_order(warp), ElementsAre(1, 0));
  EXPECT_EQ(warp.paths[0].begin_cycles, 120u);
  EXPECT_EQ(warp.paths[0].end_cycles, 150u);
  EXPECT_EQ(warp.paths[1].begin_cycles, 160u);
  EXPECT_EQ(warp.paths[1].end_cycles, 200u);
  EXPECT_EQ(warp.paths[1].warp, 3);
  EXPECT_EQ(warp.before_cycles, 100u);
  EXPECT_EQ(warp.first_behind_cycles, 210u);
  EXPECT_EQ(warp.last_behind_cycles, 212u);
}

TEST(DivergenceTest, costs_are_sums_of_its_stamps) {
  const WarpStamps warp = read_warp(two_paths(), paths);

  EXPECT_EQ(total_cycles(warp), 112);
  EXPECT_EQ(path_cycles(warp), 35);
  EXPECT_EQ(tail_cycles(warp), 12);
}

TEST(DivergenceTest, a_lane_without_four_stamps_for_each_thread_is_refused) {
  LaneTrace lane = two_paths();
  lane.clock_cycles.pop_back();
  EXPECT_THROW(read_warp(lane, paths), Error);
}

TEST(DivergenceTest, paths_overlap_if_they_share_half_of_the_shorter_one) {
  const PathSpan first{.path = 0, .warp = 0, .begin_cycles = 100, .end_cycles = 200};
  EXPECT_FALSE(some_overlap(std::vector{first, PathSpan{1, 0, 200, 300}}));
  EXPECT_FALSE(some_overlap(std::vector{first, PathSpan{1, 0, 190, 290}}));
  EXPECT_TRUE(some_overlap(std::vector{first, PathSpan{1, 0, 110, 210}}));
  EXPECT_TRUE(some_overlap(std::vector{first, PathSpan{1, 0, 140, 150}}));
}

TEST(DivergenceTest, only_whole_orders_tell_the_side_that_runs_first) {
  EXPECT_EQ(first_run(std::vector{3, 2, 1, 0}), FirstRun::taken);
  EXPECT_EQ(first_run(std::vector{0, 1, 2, 3}), FirstRun::fall_through);
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

TEST(DivergenceTest, a_barrier_of_threads_lets_both_halves_go_at_once) {
  EXPECT_EQ(barrier_participant(at_barrier(1020, 1030, {1000})), BarrierParticipant::thread);
}

TEST(DivergenceTest, a_barrier_of_warps_needs_an_arrival_for_each_half) {
  EXPECT_EQ(barrier_participant(at_barrier(2020, 1020, {1000, 2000})), BarrierParticipant::warp);
  EXPECT_EQ(barrier_participant(at_barrier(1020, 2020, {1000, 2000})), BarrierParticipant::warp);
}

TEST(DivergenceTest, a_barrier_of_paths_waits_for_nobody) {
  EXPECT_EQ(barrier_participant(at_barrier(20, 30, {})), BarrierParticipant::path);
  EXPECT_EQ(barrier_participant(at_barrier(20, 30, {1000})), BarrierParticipant::path);
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
