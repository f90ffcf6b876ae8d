// Programs on a real GPU: the accesses are those of the program, by whichever warp and path, and
// cached warps hit where bypassing ones do not.
#include "gpu/gpu_test.hpp"

#include "base/error.hpp"
#include "device/probe/program_plan.hpp"

#include <vector>

namespace sonde {
namespace {

constexpr auto issue_cycles = static_cast<std::size_t>(ProgramCount::issue_cycles);

/// Draws alone and in groups, loads that wait, accesses of first and last passes, triangular loops
/// (some warps make no pass at all), two arrays and two dimensions.
ProgramKernel make_kernel_of_everything() {
  ProgramKernel kernel{.grid_x = 9, .grid_y = 3, .block_x = 16, .block_y = 8};
  kernel.outer = {.first = 1, .per_block = 1, .per_warp = 0};
  kernel.inner = {.first = 6, .per_block = 0, .per_warp = -2};
  kernel.body = {
      {.per_block_x = 64, .per_block_y = 8, .per_thread_x = 1, .per_outer = 3, .per_inner = 16},
      {.store = true, .array = 1, .per_thread_x = 1, .per_thread_y = 17},
      {.pass = AccessPass::first, .array = 1, .first = 5, .per_thread_y = 100, .per_outer = 7},
      {.array = 1, .per_inner = 2, .drawn_elements = 1000, .drawn_step = 3},
      {.waits = true, .drawn_elements = 777, .drawn_threads = 5, .draw = 1},
      {.waits = true, .pass = AccessPass::last, .drawn_elements = 31, .drawn_threads = 32},
      {.drawn_elements = 1555, .drawn_threads = 5, .draw = 1},
      {.store = true, .pass = AccessPass::last, .drawn_elements = 2000, .draw = 2}};
  return kernel;
}

/// A body of so many loads, which all begin at different elements.
ProgramKernel make_row(std::uint32_t loads) {
  ProgramKernel kernel{.grid_x = 4, .block_x = 64, .inner = {.first = 5}};
  for (std::uint32_t load = 0; load < loads; ++load) {
    kernel.body.push_back(
        {.first = 13 * load, .per_block_x = 64, .per_thread_x = 1, .per_inner = 100 + load});
  }
  return kernel;
}

/// So few accesses that those of each lane are compared with a ProgramCursor's: others throw.
ProgramProbe make_probe(std::vector<ProgramKernel> kernels) {
  ProgramProbe probe;
  probe.program = {.name = "test", .array_elements = {5000, 7000}, .kernels = std::move(kernels)};
  probe.program.seed = 12;
  probe.resident_blocks = 2;
  probe.cached = 1;
  probe.sm_accesses = 1600;
  probe.sms = {0, 3};
  return probe;
}

std::uint64_t count_accesses(const Trace& trace) {
  std::uint64_t accesses = 0;
  for (const LaneTrace& lane : trace.lanes) accesses += lane.accesses;
  return accesses;
}

/// Each warp goes over eight lines of its own, which the L1 holds.
ProgramProbe make_small_chases() {
  ProgramKernel kernel{.grid_x = 1, .block_x = 256, .outer = {.first = 64}, .inner = {.first = 8}};
  kernel.body = {{.per_thread_x = 1, .per_inner = 256}};
  ProgramProbe probe = make_probe({kernel});
  probe.program.array_elements = {8 * 256};
  probe.resident_blocks = 1;
  probe.cached = 4;
  probe.sm_accesses = 4096;
  probe.windows = true;
  return probe;
}

class ProgramGpuTest : public GpuTest {};

TEST_F(ProgramGpuTest, all_lanes_make_the_accesses_of_the_program) {
  for (BypassPath path : {BypassPath::past_l1, BypassPath::no_allocate, BypassPath::evict_first}) {
    for (bool windows : {false, true}) {
      ProgramProbe probe = make_probe({make_kernel_of_everything()});
      probe.bypass_path = path;
      probe.windows = windows;
      const Trace trace = device().run(probe);
      ASSERT_EQ(trace.lanes.size(), 16u);
      for (const LaneTrace& lane : trace.lanes) {
        // The last warps of all blocks make no pass, and these lanes play no others.
        if (lane.warp % 4 == 3) {
          EXPECT_EQ(lane.accesses, 0u);
        } else {
          EXPECT_GE(lane.accesses, 200u);
          EXPECT_LT(lane.accesses, 208u);
        }
        EXPECT_EQ(lane.window_cycles.empty(), !windows || lane.accesses == 0);
        EXPECT_LE(lane.window_cycles.size(), lane.accesses);
      }
    }
  }
}

TEST_F(ProgramGpuTest, every_number_of_loads_has_its_kernel) {
  for (std::uint32_t loads = 1; loads <= most_program_accesses; ++loads) {
    const Trace trace = device().run(make_probe({make_row(loads)}));
    ASSERT_EQ(trace.lanes.size(), 8u) << loads;
    for (const LaneTrace& lane : trace.lanes) {
      EXPECT_EQ(lane.accesses, (400 + loads - 1) / loads * loads) << loads;
      EXPECT_TRUE(lane.counts.empty());
      EXPECT_TRUE(lane.window_cycles.empty());
      EXPECT_GT(lane.elapsed_cycles, 0u);
    }
  }
}

TEST_F(ProgramGpuTest, fewer_active_warps_and_bypassing_blocks_make_the_same_accesses) {
  ProgramProbe probe = make_probe({make_row(3), make_row(4)});
  probe.level = BypassLevel::block;
  for (int active : {0, 1, 3}) {
    probe.active_warps = active;
    const Trace trace = device().run(probe);
    ASSERT_EQ(trace.lanes.size(), 2u * static_cast<std::size_t>(active == 0 ? 4 : active));
    EXPECT_NEAR(static_cast<double>(count_accesses(trace)), 3200, 100) << active;
  }
}

TEST_F(ProgramGpuTest, cached_warps_hit_and_bypassing_warps_do_not) {
  for (BypassPath path : {BypassPath::past_l1, BypassPath::no_allocate}) {
    ProgramProbe probe = make_small_chases();
    probe.bypass_path = path;
    const Trace trace = device().run(probe);
    ASSERT_EQ(trace.lanes.size(), 16u);
    for (const LaneTrace& lane : trace.lanes) {
      ASSERT_EQ(lane.window_cycles.size(), 512u);
      if (lane.warp < 4) {
        EXPECT_LT(median(lane.window_cycles), 100) << lane.warp;
      } else if (path == BypassPath::past_l1) {
        EXPECT_GT(median(lane.window_cycles), 150) << lane.warp;
      }
    }
  }
}

TEST_F(ProgramGpuTest, a_window_holds_the_time_to_issue) {
  const Trace trace = device().run(make_small_chases());
  for (const LaneTrace& lane : trace.lanes) {
    ASSERT_EQ(lane.counts.size(), program_count_total);
    for (std::size_t count = 0; count < program_count_total; ++count) {
      EXPECT_EQ(lane.counts[count] == not_counted, count != issue_cycles) << count;
    }
    const double windows =
        std::accumulate(lane.window_cycles.begin(), lane.window_cycles.end(), 0.0);
    EXPECT_GT(lane.counts[issue_cycles], lane.window_cycles.size());
    EXPECT_LT(static_cast<double>(lane.counts[issue_cycles]), windows);
    EXPECT_LT(windows, static_cast<double>(lane.elapsed_cycles));
  }
}

TEST_F(ProgramGpuTest, loads_of_a_row_are_in_flight_together) {
  // Four loads past the L1 in a row take about as long as one; four that wait take four times that.
  ProgramProbe probe = make_probe({make_row(4)});
  probe.program.kernels[0].inner.first = 40;
  probe.cached = 0;
  probe.active_warps = 1;
  const double row = static_cast<double>(device().run(probe).lanes[0].elapsed_cycles);
  for (ProgramAccess& access : probe.program.kernels[0].body) access.waits = true;
  const double waiting = static_cast<double>(device().run(probe).lanes[0].elapsed_cycles);
  EXPECT_THAT(waiting, between(2.5 * row, 4.5 * row));
}

TEST_F(ProgramGpuTest, what_a_gpu_cannot_do_is_refused) {
  const ProgramProbe good = make_probe({make_row(2)});
  ProgramProbe probe = good;
  probe.machine.scheduler = WarpScheduler::round_robin;
  EXPECT_THROW(device().run(probe), DeviceError);
  probe = good;
  probe.machine.protecting_distance = true;
  EXPECT_THROW(device().run(probe), DeviceError);
  probe = good;
  probe.resident_blocks = 17;  // of two warps
  EXPECT_THROW(device().run(probe), DeviceError);
  probe.active_warps = 32;
  EXPECT_NO_THROW(device().run(probe));
  probe = good;
  probe.windows = true;
  probe.sm_accesses = 1'000'000;
  EXPECT_THROW(device().run(probe), DeviceError);
  EXPECT_NO_THROW(device().run(good));
}

/// Each thread of 32 warps reads a row of its own: 1024 lines in use, of an L1 that has few.
TEST_F(ProgramGpuTest, loads_wait_the_longer_the_more_warps_read_rows_through_a_small_l1) {
  const auto& carveouts = device().info().shared_carveouts_bytes;
  if (carveouts.empty()) GTEST_SKIP() << "the L1 has one size";
  constexpr std::uint32_t row = 17 * 32;
  const auto sms = static_cast<std::uint32_t>(device().info().sm_count);
  ProgramKernel kernel{.grid_x = sms, .block_x = 1024, .inner = {.first = 512}};
  kernel.body = {{.per_block_x = 1024 * row, .per_thread_x = row, .per_inner = 1}};
  ProgramProbe probe;
  probe.program = {
      .name = "rows", .array_elements = {std::uint64_t{sms} * 1024 * row}, .kernels = {kernel}};
  probe.sm_accesses = 2048;
  probe.windows = true;
  probe.shared_carveout_bytes = carveouts.back();
  std::vector<double> waits;
  for (int cached : {4, 16, 32}) {
    probe.cached = cached;
    double cycles = 0;
    double loads = 0;
    for (const LaneTrace& lane : device().run(probe).lanes) {
      if (lane.warp >= cached) continue;
      for (std::uint32_t window : lane.window_cycles) cycles += window;
      loads += static_cast<double>(lane.window_cycles.size());
    }
    waits.push_back(cycles / loads);
  }
  // By 17 % on an H200, by 3 % on an H100 (docs/results/h200.md).
  EXPECT_GT(waits[2], waits[0]);
}

}  // namespace
}  // namespace sonde
