// Programs at the seam: which are refused, and which accesses one means.
#include "device/probe/program_plan.hpp"
#include "unit/device/refusals.hpp"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <numeric>
#include <set>

namespace sonde {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

/// Two blocks of two warps; each thread reads a row of 100 elements.
ProgramProbe rows() {
  ProgramKernel kernel{.grid_x = 2, .block_x = 64, .inner = {.first = 100}};
  kernel.body = {{.array = 0, .per_block_x = 6400, .per_thread_x = 100, .per_inner = 1}};
  ProgramProbe probe;
  probe.program = {.name = "rows", .array_elements = {12800}, .kernels = {kernel}};
  probe.cached = 2;
  probe.sm_accesses = 100;
  return probe;
}

TEST(ProgramProbeTest, what_no_device_could_play_is_refused) {
  expect_refused(
      rows(), {[](auto& probe) { probe.program.array_elements = {12799}; },
               [](auto& probe) { probe.program.kernels.clear(); },
               [](auto& probe) { probe.program.kernels[0].block_x = 63; },
               [](auto& probe) { probe.program.kernels[0].body.clear(); },
               [](auto& probe) { probe.program.kernels[0].body[0].array = 1; },
               [](auto& probe) { probe.program.kernels[0].body[0].store = true; },
               [](auto& probe) { probe.program.kernels[0].body[0].drawn_elements = 2; },
               [](auto& probe) { probe.program.kernels[0].inner = {.first = 1, .per_block = -2}; },
               [](auto& probe) { probe.cached = 3; }, [](auto& probe) { probe.sm_accesses = 0; },
               [](auto& probe) { probe.sms = {2}; },
               [](auto& probe) {
                 probe.program.kernels.push_back(probe.program.kernels[0]);
                 probe.program.kernels[1].block_x = 32;
               }});
}

TEST(ProgramProbeTest, units_are_warps_of_a_block_or_blocks_of_an_sm) {
  ProgramProbe probe = rows();
  probe.resident_blocks = 3;
  EXPECT_EQ(bypass_units(probe), 2);
  EXPECT_EQ(resident_warps(probe), 6);
  probe.level = BypassLevel::block;
  EXPECT_EQ(bypass_units(probe), 3);
  probe.active_warps = 4;
  EXPECT_EQ(resident_warps(probe), 4);
}

TEST(ProgramProbeTest, a_changed_machine_is_told) {
  ProgramProbe probe = rows();
  EXPECT_THAT(describe_probe(probe), Not(HasSubstr("machine")));
  probe.machine.scheduler = WarpScheduler::round_robin;
  probe.machine.dynamic = DynamicBypass{.one_for_all = true};
  EXPECT_THAT(describe_probe(probe), HasSubstr(R"("scheduler":"round_robin")"));
  EXPECT_THAT(describe_probe(probe), HasSubstr(R"("one_for_all":true)"));
}

TEST(ProgramProbeTest, lanes_are_kept_of_sms_that_lie_apart) {
  ProgramProbe probe = rows();  // two warps on an SM
  std::vector<LaneTrace> all;
  for (int sm = 0; sm < 10; ++sm) {
    for (int warp = 0; warp < 2; ++warp) {
      all.emplace_back().sm = 100 + sm;
      all.back().warp = warp;
    }
  }
  std::vector<LaneTrace> lanes = all;
  keep_lanes(probe, lanes);
  EXPECT_EQ(lanes.size(), 20u) << "of all SMs unless asked otherwise";
  probe.lane_sms = 12;
  keep_lanes(probe, lanes);
  EXPECT_EQ(lanes.size(), 20u);
  probe.lane_sms = 3;
  keep_lanes(probe, lanes);
  std::vector<int> sms, warps;
  for (const LaneTrace& lane : lanes) {
    sms.push_back(lane.sm);
    warps.push_back(lane.warp);
  }
  EXPECT_THAT(sms, ElementsAre(100, 100, 103, 103, 106, 106));
  EXPECT_THAT(warps, ElementsAre(0, 1, 0, 1, 0, 1));
}

std::vector<std::uint64_t> elements_of(const ProgramCursor& cursor) {
  std::uint64_t elements[32];
  cursor.elements(elements);
  return {std::begin(elements), std::end(elements)};
}

TEST(ProgramPlanTest, elements_are_the_sum_of_their_parts) {
  const AccessProgram program = rows().program;
  ProgramCursor cursor(program, program.kernels[0], {.block_x = 1, .block_y = 0, .warp = 1});
  cursor.advance();
  cursor.advance();
  const auto elements = elements_of(cursor);
  for (std::uint64_t lane = 0; lane < 32; ++lane) {
    EXPECT_EQ(elements[lane], 6400 + (32 + lane) * 100 + 2);
  }
}

TEST(ProgramPlanTest, the_first_and_the_last_pass_make_accesses_of_their_own) {
  AccessProgram program = rows().program;
  ProgramKernel& kernel = program.kernels[0];
  kernel.outer = {.first = 2};
  kernel.inner = {.first = 3};
  kernel.body = {{.array = 0},
                 {.pass = AccessPass::first, .array = 0, .first = 1},
                 {.store = true, .pass = AccessPass::last, .array = 0, .first = 2}};
  std::vector<std::uint64_t> order;
  std::vector<bool> begins;
  for (ProgramCursor cursor(program, kernel, {}); !cursor.at_end(); cursor.advance()) {
    order.push_back(elements_of(cursor)[0]);
    begins.push_back(cursor.begins_pass());
  }
  EXPECT_THAT(order, ElementsAre(0, 1, 0, 0, 2, 0, 1, 0, 0, 2));
  EXPECT_THAT(begins, ElementsAre(true, false, true, true, false, true, false, true, true, false));
  EXPECT_EQ(count_accesses(kernel, {}), order.size());
}

TEST(ProgramPlanTest, passes_depend_on_block_and_warp_and_may_be_none) {
  const PassCount count{.first = 10, .per_block = -4, .per_warp = 1};
  EXPECT_EQ(passes_of(count, {.block_x = 2, .block_y = 0, .warp = 3}), 5u);
  EXPECT_EQ(passes_of(count, {.block_x = 3, .block_y = 0, .warp = 0}), 0u);
  AccessProgram program = rows().program;
  program.kernels[0].inner = {.first = 1, .per_block = -1};
  EXPECT_FALSE(ProgramCursor(program, program.kernels[0], {.block_x = 0}).at_end());
  EXPECT_TRUE(ProgramCursor(program, program.kernels[0], {.block_x = 1}).at_end());
}

TEST(ProgramPlanTest, neighbours_and_accesses_draw_together_as_asked) {
  AccessProgram program = rows().program;
  ProgramKernel& kernel = program.kernels[0];
  kernel.body = {{.array = 0, .drawn_elements = 1000, .drawn_step = 2, .drawn_threads = 8},
                 {.array = 0, .drawn_elements = 1000, .drawn_step = 2, .drawn_threads = 8},
                 {.array = 0, .drawn_elements = 1000, .drawn_threads = 1, .draw = 1}};
  ProgramCursor cursor(program, kernel, {});
  const auto first = elements_of(cursor);
  cursor.advance();
  EXPECT_EQ(elements_of(cursor), first) << "the same draw";
  cursor.advance();
  const auto other = elements_of(cursor);
  EXPECT_EQ(std::set(first.begin(), first.end()).size(), 4u) << "groups of 8 threads";
  EXPECT_GT(std::set(other.begin(), other.end()).size(), 25u);
  for (std::uint64_t element : first) EXPECT_EQ(element % 2, 0u);
  cursor.advance();
  EXPECT_NE(elements_of(cursor), first) << "anew in each pass";
}

TEST(ProgramPlanTest, kernels_share_by_what_they_have_to_do) {
  AccessProgram program = rows().program;
  program.kernels.push_back(program.kernels[0]);
  program.kernels[1].inner = {.first = 300};
  EXPECT_THAT(share_accesses(program, 1000, 1), ElementsAre(250, 750));
  EXPECT_THAT(share_accesses(program, 1000, 8), ElementsAre(248, 752));
  EXPECT_THAT(share_accesses(program, 8, 8), ElementsAre(8, 8));
}

TEST(ProgramPlanTest, arrays_begin_apart) {
  AccessProgram program;
  program.array_elements = {1, 1024, 1025};
  EXPECT_THAT(array_offsets_bytes(program), ElementsAre(0, 4096, 8192, 8192 + 8192));
}

}  // namespace
}  // namespace sonde
