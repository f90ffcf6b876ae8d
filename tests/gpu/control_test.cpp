// Control flow and occupancy on a real GPU.
#include "analysis/statistics.hpp"
#include "analysis/structure/cores/divergence.hpp"
#include "analysis/structure/cores/occupancy_rule.hpp"
#include "base/error.hpp"
#include "gpu/gpu_test.hpp"

#include <functional>
#include <map>

namespace sonde {
namespace {

class ControlGpuTest : public GpuTest {
 protected:
  /// The warps of SM 0 and another one.
  std::vector<WarpStamps> branch(BranchShape shape, const std::function<int(int)>& path_of,
                                 int warps = 1) {
    BranchProbe probe{.shape = shape, .path_of_thread = {}, .warps = warps, .sms = {0, 1}};
    for (int thread = 0; thread < 32; ++thread) probe.path_of_thread.push_back(path_of(thread));
    std::vector<WarpStamps> stamps;
    for (const LaneTrace& lane : device().run(probe).lanes) {
      stamps.push_back(read_warp(lane, probe.path_of_thread));
    }
    return stamps;
  }
  std::vector<std::uint64_t> wait(WaitProgram program) {
    const Trace trace =
        device().run(WaitProbe{.program = program, .limit_cycles = 100'000, .sms = {0, 1, 2}});
    for (const LaneTrace& lane : trace.lanes) EXPECT_EQ(lane.clock_cycles.size(), 64u);
    return trace.lanes.at(0).clock_cycles;
  }
  double barrier_cycles(const BarrierProbe& probe) {
    std::vector<double> cycles;
    for (const LaneTrace& lane : device().run(probe).lanes) {
      cycles.push_back(cycles_per_access(lane));
    }
    return median(cycles);
  }
};

TEST_F(ControlGpuTest, paths_of_a_warp_run_one_after_the_other) {
  for (BranchShape shape : {BranchShape::switch_cases, BranchShape::else_chain}) {
    for (const WarpStamps& warp : branch(shape, [](int thread) { return thread; })) {
      ASSERT_EQ(warp.paths.size(), 32u);
      EXPECT_FALSE(some_overlap(warp.paths));
      EXPECT_GE(warp.first_behind_cycles, warp.before_cycles);
      // 16 dependent multiply-adds of 4 cycles or more, the last of which the clock does not wait
      // for.
      EXPECT_GE(path_cycles(warp), 15 * 4);
      EXPECT_LT(path_cycles(warp), 16 * 40);
    }
  }
}

TEST_F(ControlGpuTest, nests_run_every_path_once_and_join_at_each_level) {
  double last_total = 0;
  for (int depth = 0; depth <= most_branch_depth; ++depth) {
    BranchProbe probe{
        .shape = BranchShape::nested, .path_of_thread = {}, .sms = {0, 1}, .depth = depth};
    for (int thread = 0; thread < 32; ++thread) {
      probe.path_of_thread.push_back(thread >> (most_branch_depth - depth));
    }
    const Trace trace = device().run(probe);
    ASSERT_EQ(trace.lanes.size(), 2u);
    const WarpStamps warp = read_warp(trace.lanes.front(), probe.path_of_thread);
    ASSERT_EQ(warp.paths.size(), std::size_t{1} << depth);
    EXPECT_FALSE(some_overlap(warp.paths));
    EXPECT_EQ(warp.first_behind_cycles, warp.last_behind_cycles);
    EXPECT_GT(total_cycles(warp), last_total);
    EXPECT_GE(path_cycles(warp), 15 * 4);
    EXPECT_LT(path_cycles(warp), 16 * 40);
    // A level has at least two dependent operations, a branch and a join.
    EXPECT_GE(total_cycles(warp), (1 << depth) * path_cycles(warp) + ((1 << depth) - 1) * 8);
    last_total = total_cycles(warp);
  }
}

TEST_F(ControlGpuTest, further_paths_cost_more_and_converged_warps_the_same) {
  double last = 0;
  for (int paths : {1, 2, 4, 8, 16, 32}) {
    const WarpStamps warp =
        branch(BranchShape::switch_cases, [paths](int thread) { return thread % paths; }).front();
    EXPECT_EQ(warp.paths.size(), static_cast<std::size_t>(paths));
    EXPECT_GT(total_cycles(warp), last);
    last = total_cycles(warp);
  }
}

TEST_F(ControlGpuTest, warps_overlap) {
  const std::vector<WarpStamps> warps = branch(
      BranchShape::switch_cases, [](int thread) { return thread; }, 2);
  ASSERT_EQ(warps.size(), 4u);  // two on each SM
  std::vector<PathSpan> both = warps[0].paths;
  both.insert(both.end(), warps[1].paths.begin(), warps[1].paths.end());
  EXPECT_TRUE(some_overlap(both));
}

/// CUDA programming guide, compute capability 7.x: threads are scheduled independently.
TEST_F(ControlGpuTest, threads_of_a_diverged_warp_make_progress) {
  for (WaitProgram program : {WaitProgram::handshake, WaitProgram::spin_release}) {
    const std::vector<std::uint64_t> cycles = wait(program);
    if (device().info().compute_major < 7) continue;
    for (std::size_t thread = 0; thread < 32; ++thread) EXPECT_GT(cycles[thread], 0u) << thread;
  }
}

TEST_F(ControlGpuTest, a_warp_at_a_barrier_and_one_that_spins_wait_for_each_other) {
  const std::vector<std::uint64_t> cycles = wait(WaitProgram::barrier_against_spin);
  for (std::size_t thread = 0; thread < 32; ++thread) {
    EXPECT_GE(cycles[thread], 100'000u);  // released when the other gave up
    EXPECT_EQ(cycles[thread + 32], 0u);
  }
}

/// CUDA programming guide, compute capability 7.x: barriers are enforced per thread.
TEST_F(ControlGpuTest, barriers_count_threads) {
  const std::vector<std::uint64_t> cycles = wait(WaitProgram::diverged_barrier);
  const auto participant = barrier_participant(cycles);
  ASSERT_TRUE(participant.has_value());
  if (device().info().compute_major >= 7) {
    EXPECT_EQ(*participant, "thread");
  }
}

TEST_F(ControlGpuTest, a_clock_read_after_a_barrier_adds_little) {
  for (int warps : {1, 4, 32}) {
    const double alone = barrier_cycles({.warps = warps, .barriers = 512, .sms = all_sms()});
    const double pair = barrier_cycles(
        {.kind = BarrierKind::clocked, .warps = warps, .barriers = 512, .sms = all_sms()});
    EXPECT_GE(pair, alone - 0.5) << warps;
    EXPECT_LT(pair, alone + 40) << warps;
  }
}

TEST_F(ControlGpuTest, barriers_take_some_ten_cycles_and_more_with_more_warps) {
  double one_warp = 0;
  for (BarrierKind kind : {BarrierKind::block, BarrierKind::named}) {
    for (int warps : {1, 2, 4, 8, 16, 32}) {
      const double cycles =
          barrier_cycles({.kind = kind, .warps = warps, .barriers = 512, .sms = all_sms()});
      EXPECT_THAT(cycles, between(4, 400)) << warps;
      if (warps == 1) one_warp = cycles;
      if (warps == 32) {
        EXPECT_GT(cycles, one_warp);
      }
    }
  }
}

TEST_F(ControlGpuTest, barriers_of_clusters_and_the_grid_take_longer) {
  const double block = barrier_cycles({.barriers = 512, .sms = all_sms()});
  const double grid = barrier_cycles({.kind = BarrierKind::grid, .barriers = 128, .sms = {}});
  EXPECT_GT(grid, 5 * block);  // two ways through the L2
  EXPECT_LT(grid, 20'000);
  for (int blocks = 2; blocks <= device().info().max_cluster_blocks; blocks *= 2) {
    const double cluster = barrier_cycles(
        {.kind = BarrierKind::cluster, .cluster_blocks = blocks, .barriers = 128, .sms = {}});
    EXPECT_THAT(cluster, between(block, grid));
  }
}

/// CUDA programming guide, __nanosleep: between nothing and twice the time that is asked for.
TEST_F(ControlGpuTest, sleeps_last_at_most_twice_as_long_as_asked) {
  for (std::uint32_t asked_ns : {0u, 100u, 1000u, 10000u}) {
    const Trace trace =
        device().run(SleepProbe{.asked_ns = asked_ns, .samples = 16, .sms = {0, 1, 2, 3}});
    const double hz = device().info().sm_clock_hz;
    EXPECT_LT(median(all_windows(trace)) / hz * 1e9, 2.0 * asked_ns + 1000);
  }
}

class OccupancyGpuTest : public ControlGpuTest {
 protected:
  int blocks(int registers, int threads, std::uint64_t shared_bytes = 0) {
    const Trace trace = device().run(OccupancyProbe{registers, threads, shared_bytes});
    std::map<std::uint64_t, int> counts;
    for (const LaneTrace& lane : trace.lanes) ++counts[lane.accesses];
    EXPECT_EQ(counts.size(), 1u) << registers << " registers, " << threads << " threads";
    return static_cast<int>(counts.rbegin()->first);
  }
};

/// CUDA programming guide, table of compute capabilities: 64 Ki registers per SM and 255 per thread
/// since 3.5; allocation by 256 registers of a warp (occupancy calculator).
TEST_F(OccupancyGpuTest, the_rule_of_registers_is_the_published_one) {
  const std::vector<int> counts = device().register_counts();
  ASSERT_GT(counts.size(), 20u);
  std::vector<HeldBlocks> held;
  for (int registers : counts) {
    for (int threads : {64, 256}) {
      held.push_back({registers, threads, blocks(registers, threads)});
    }
  }
  for (int threads = 16; threads <= 1024; threads += 16) {
    const int registers = *(std::ranges::upper_bound(counts, 64) - 1);
    held.push_back({registers, threads, blocks(registers, threads)});
  }
  const FoundRule rule = find_occupancy_rule(held);
  EXPECT_EQ(most_threads(held), device().info().max_threads_per_sm);
  EXPECT_EQ(rule.registers_per_sm, 65536);
  EXPECT_EQ(rule.register_unit, 8);
  EXPECT_GE(counts.back(), 250);
}

TEST_F(OccupancyGpuTest, shared_memory_limits_blocks) {
  const int registers = device().register_counts().front();
  const DeviceInfo& info = device().info();
  EXPECT_EQ(blocks(registers, 64, info.shared_bytes_per_block), 1);
  EXPECT_GE(blocks(registers, 64, info.shared_bytes_per_block / 4), 3);
  EXPECT_EQ(blocks(registers, 64, info.shared_bytes_per_block + 1024), 0);
}

TEST_F(OccupancyGpuTest, unknown_kernels_are_refused_and_the_next_one_runs) {
  EXPECT_THROW(blocks(1, 64), DeviceError);
  EXPECT_GT(blocks(device().register_counts().front(), 64), 0);
}

}  // namespace
}  // namespace sonde
