// Warps on their way through schedulers and units: times that were counted by hand.
#include "device/sim/cores/issue.hpp"

#include <gtest/gtest.h>

namespace sonde::sim {
namespace {

/// One scheduler, one unit that takes an instruction every four cycles and brings it after 24.
PipelinesModel one_unit() {
  PipelinesModel model;
  model.schedulers = 1;
  model.units.resize(1);
  model.instructions = {
      {.name = "ADD", .executions = {{.unit = 0, .occupied_cycles = 4, .latency_cycles = 24}}}};
  model.ops = {{.name = "int_add", .instructions = {0}}};
  return model;
}

WarpProgram program_of(const PipelinesModel& model, int ilp, std::uint64_t steps) {
  return {.ops = {&model.ops[0]}, .ilp = ilp, .steps = steps};
}

/// Cycles of a step in the long run.
double pace(const PipelinesModel& model, int warps, int ilp = 1) {
  const auto run = [&](std::uint64_t steps) {
    return static_cast<double>(issue_warps(model, program_of(model, ilp, steps), warps));
  };
  return (run(400) - run(200)) / 200;
}

TEST(IssueWarpsTest, one_warp_waits_for_each_result) {
  const PipelinesModel model = one_unit();
  EXPECT_EQ(issue_warps(model, program_of(model, 1, 1), 1), 24u);
  EXPECT_EQ(issue_warps(model, program_of(model, 1, 10), 1), 240u);
}

TEST(IssueWarpsTest, chains_of_a_warp_fill_the_unit) {
  const PipelinesModel model = one_unit();
  // Issued at 0, 4, 8: the last result comes at 8 + 24.
  EXPECT_EQ(issue_warps(model, program_of(model, 3, 1), 1), 32u);
  EXPECT_DOUBLE_EQ(pace(model, 1, 6), 24);
  EXPECT_DOUBLE_EQ(pace(model, 1, 8), 32);
}

TEST(IssueWarpsTest, warps_fill_the_unit_from_latency_over_interval_on) {
  const PipelinesModel model = one_unit();
  for (int warps : {1, 3, 6}) EXPECT_DOUBLE_EQ(pace(model, warps), 24) << warps;
  for (int warps : {7, 10, 16}) EXPECT_DOUBLE_EQ(pace(model, warps), 4 * warps) << warps;
}

TEST(IssueWarpsTest, an_instruction_goes_to_whatever_unit_is_free) {
  PipelinesModel model = one_unit();
  model.units.push_back(model.units.front());
  model.instructions[0].executions.push_back(
      {.unit = 1, .occupied_cycles = 8, .latency_cycles = 24});
  // In eight cycles two of one unit and one of the other.
  EXPECT_NEAR(pace(model, 16), 16 * 8.0 / 3, 0.3);
}

TEST(IssueWarpsTest, each_scheduler_has_its_own_unit_and_its_share_of_the_warps) {
  PipelinesModel model = one_unit();
  model.schedulers = 4;
  model.units[0].scope = UnitScope::scheduler;
  model.instructions[0].executions[0] = {.unit = 0, .occupied_cycles = 1, .latency_cycles = 4};
  for (int warps : {1, 4, 16}) EXPECT_DOUBLE_EQ(pace(model, warps), 4) << warps;
  for (int warps : {17, 20}) EXPECT_DOUBLE_EQ(pace(model, warps), 5) << warps;
  EXPECT_DOUBLE_EQ(pace(model, 32), 8);
}

TEST(IssueWarpsTest, schedulers_share_units_evenly) {
  PipelinesModel model = one_unit();
  model.schedulers = 4;
  model.issue_width = 2;
  model.units[0].count = 6;
  model.instructions[0].executions[0] = {.unit = 0, .occupied_cycles = 1, .latency_cycles = 9};
  // 32 warps with four chains: 128 instructions a step through six units.
  EXPECT_NEAR(pace(model, 32, 4), 128 / 6.0, 0.3);
  // A scheduler issues two of a warp, if it has two chains.
  EXPECT_NEAR(pace(model, 4, 16), 64 / 6.0, 0.3);
}

TEST(IssueWarpsTest, a_scheduler_issues_no_faster_than_it_can) {
  PipelinesModel model = one_unit();
  model.issue_interval_cycles = 2;
  model.instructions[0].executions[0] = {.unit = 0, .occupied_cycles = 1, .latency_cycles = 6};
  EXPECT_DOUBLE_EQ(pace(model, 16), 32);
}

TEST(IssueWarpsTest, instructions_of_a_step_wait_for_each_other) {
  PipelinesModel model = one_unit();
  model.instructions.push_back(
      {.name = "MUL", .executions = {{.unit = 0, .occupied_cycles = 16, .latency_cycles = 28}}});
  model.ops[0].instructions = {0, 1};
  EXPECT_DOUBLE_EQ(pace(model, 1), 24 + 28);
  EXPECT_DOUBLE_EQ(pace(model, 16), 16 * (4 + 16));
}

TEST(IssueWarpsTest, two_operations_share_a_unit_or_do_not) {
  PipelinesModel model = one_unit();
  model.ops.push_back({.name = "float_add", .instructions = {0}});
  WarpProgram both = program_of(model, 1, 300);
  both.ops.push_back(&model.ops[1]);
  const auto pace_of_both = [&] {
    WarpProgram part = both;
    part.steps = 100;
    return static_cast<double>(issue_warps(model, both, 16) - issue_warps(model, part, 16)) / 200;
  };
  EXPECT_NEAR(pace_of_both(), 128, 1);
  model.units.push_back(model.units.front());
  model.instructions.push_back(
      {.name = "FADD", .executions = {{.unit = 1, .occupied_cycles = 4, .latency_cycles = 24}}});
  model.ops[1].instructions = {1};
  EXPECT_NEAR(pace_of_both(), 64, 1);
}

TEST(IssueWarpsTest, slow_sms_take_longer_for_every_instruction) {
  const PipelinesModel model = one_unit();
  EXPECT_EQ(issue_warps(model, program_of(model, 1, 10), 1, 3), 270u);
}

}  // namespace
}  // namespace sonde::sim
