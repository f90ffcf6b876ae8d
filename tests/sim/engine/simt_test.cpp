// The warps of a simulated block: paths, joins, loops and barriers, instruction by instruction.
#include "device/sim/cores/simt.hpp"

#include "base/error.hpp"

#include <gtest/gtest.h>

namespace sonde::sim {
namespace {

using Program = std::vector<SimtInstruction>;

constexpr ThreadMask upper_half = 0xffff0000;

ControlModel plain_model() {
  ControlModel model;
  model.operation_cycles = 10;
  model.branch_cycles = 5;
  model.path_switch_cycles = 3;
  model.reconvergence_cycles = 7;
  model.barrier.latency_cycles = 20;
  return model;
}

constexpr std::uint64_t limit_cycles = 5000;

/// A block whose warps ran this program to their ends.
SimtBlock played(const ControlModel& model, const Program& program,
                 const std::vector<std::uint64_t>& starts, std::uint64_t limit = limit_cycles) {
  SimtBlock block(model, {.look_cycles = 30, .stamp_cycles = 2}, limit);
  for (const std::uint64_t start : starts) block.add_warp(program, start);
  block.run();
  return block;
}

/// Lower half: a stamp and an operation; upper half: two operations between. All stamp behind it.
const Program two_paths{{.op = SimtOp::branch, .threads = upper_half, .target = 4, .join = 7},
                        {.op = SimtOp::stamp, .slot = 0},
                        {.op = SimtOp::operate},
                        {.op = SimtOp::jump, .target = 7},
                        {.op = SimtOp::stamp, .slot = 0},
                        {.op = SimtOp::operate},
                        {.op = SimtOp::operate},
                        {.op = SimtOp::stamp, .slot = 1},
                        {.op = SimtOp::end}};

TEST(SimtTest, the_taken_side_runs_first_and_the_other_behind_it) {
  ControlModel model = plain_model();
  const SimtBlock block = played(model, two_paths, {100});

  EXPECT_EQ(block.stamp(0, 31, 0), 105u);  // behind the branch
  EXPECT_EQ(block.stamp(0, 0, 0), 105u + 2 + 20 + 3);
  EXPECT_EQ(block.stamp(0, 0, 1), 130u + 2 + 10 + 7);
  EXPECT_EQ(block.stamp(0, 31, 1), block.stamp(0, 0, 1));
}

TEST(SimtTest, the_side_that_falls_through_runs_first_if_declared_so) {
  ControlModel model = plain_model();
  model.first = FirstSide::fall_through;
  const SimtBlock block = played(model, two_paths, {100});

  EXPECT_LT(block.stamp(0, 0, 0), block.stamp(0, 31, 0));
}

TEST(SimtTest, a_branch_that_all_threads_take_costs_no_join) {
  ControlModel model = plain_model();
  Program program = two_paths;
  program[0].threads = whole_warp;
  const SimtBlock block = played(model, program, {100});

  EXPECT_EQ(block.stamp(0, 0, 1), 100u + 5 + 2 + 20);
}

/// Thread t waits until the word says t, and says t + 1 behind the loop.
const Program release_behind_loop{
    {.op = SimtOp::await_own, .slot = 0}, {.op = SimtOp::release}, {.op = SimtOp::end}};

TEST(SimtTest, on_a_stack_who_waits_at_the_join_releases_nobody) {
  const ControlModel model = plain_model();
  const SimtBlock block = played(model, release_behind_loop, {1});

  EXPECT_GT(block.stamp(0, 0, 0), 0u);
  for (std::size_t thread = 1; thread < 32; ++thread) EXPECT_EQ(block.stamp(0, thread, 0), 0u);
  EXPECT_GE(block.end_cycles(), limit_cycles);
}

TEST(SimtTest, independent_threads_release_each_other_in_turn) {
  ControlModel model = plain_model();
  model.threads = ThreadScheduling::independent;
  const SimtBlock block = played(model, release_behind_loop, {1}, 20 * limit_cycles);

  for (std::size_t thread = 1; thread < 32; ++thread) {
    EXPECT_GT(block.stamp(0, thread, 0), block.stamp(0, thread - 1, 0)) << thread;
  }
}

TEST(SimtTest, a_barrier_lets_warps_go_when_the_last_one_has_come) {
  const ControlModel model = plain_model();
  const Program program{
      {.op = SimtOp::barrier, .value = 64}, {.op = SimtOp::stamp, .slot = 0}, {.op = SimtOp::end}};
  const SimtBlock block = played(model, program, {100, 300});

  EXPECT_EQ(block.stamp(0, 0, 0), 320u);
  EXPECT_EQ(block.stamp(1, 0, 0), 320u);
}

TEST(SimtTest, warps_that_nobody_releases_are_an_error) {
  const ControlModel model = plain_model();
  const Program program{{.op = SimtOp::barrier, .value = 64}, {.op = SimtOp::end}};
  EXPECT_THROW(played(model, program, {1}), DeviceError);
}

}  // namespace
}  // namespace sonde::sim
