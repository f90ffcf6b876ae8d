// The job arithmetic finds what models declare of their pipelines: latencies, lanes, what shares a
// unit, schedulers; of the shipped models, and of Wong's GTX 280.
#include "base/arithmetic_ops.hpp"
#include "sim/job_on_sim.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace sonde::test {
namespace {

std::string metric(std::string_view op, const char* rest) {
  return "arithmetic." + std::string(op) + "." + rest;
}

/// Cycles that a step of one chain takes: one instruction after the other.
double declared_latency(const sim::PipelinesModel& pipelines, const sim::OpModel& op) {
  double cycles = 0;
  for (std::size_t instruction : op.instructions) {
    cycles += pipelines.instructions[instruction].executions.front().latency_cycles;
  }
  return cycles;
}

/// Steps of warps per cycle that units and schedulers can do at most, were there chains enough.
double declared_rate(const sim::PipelinesModel& pipelines, const sim::OpModel& op) {
  std::vector<double> busy_cycles(pipelines.units.size());
  for (std::size_t instruction : op.instructions) {
    const auto& execution = pipelines.instructions[instruction].executions.front();
    busy_cycles[execution.unit] += execution.occupied_cycles;
  }
  const double slots = pipelines.schedulers * pipelines.issue_width;
  double rate =
      slots / (static_cast<double>(op.instructions.size()) * pipelines.issue_interval_cycles);
  for (std::size_t unit = 0; unit < busy_cycles.size(); ++unit) {
    if (busy_cycles[unit] <= 0) continue;
    const sim::UnitModel& model = pipelines.units[unit];
    const double units =
        model.count * (model.scope == sim::UnitScope::sm ? 1.0 : pipelines.schedulers);
    rate = std::min(rate, units / busy_cycles[unit]);
  }
  return rate;
}

bool has_one_way(const sim::PipelinesModel& pipelines, const sim::OpModel& op) {
  return std::ranges::all_of(op.instructions, [&](std::size_t instruction) {
    return pipelines.instructions[instruction].executions.size() == 1;
  });
}

/// Latencies and rates of all operations.
void expect_declared(const JobOnSim& sim) {
  constexpr double tolerance = 0.02;
  const sim::PipelinesModel& pipelines = *sim.truth().units.pipelines;
  for (const ArithmeticOp& known : arithmetic_ops) {
    const sim::OpModel* op = pipelines.find_op(std::string(known.name));
    if (op == nullptr) {
      EXPECT_EQ(sim.status(metric(known.name, "latency_cycles")), Status::not_resolvable);
      continue;
    }
    const double latency = declared_latency(pipelines, *op);
    const double found_latency = sim.number(metric(known.name, "latency_cycles"));
    if (known.group_warps == 1) {
      EXPECT_NEAR(found_latency, latency, 0.01 * latency) << known.name;
    } else {  // its warps may have to take turns
      const double turns = known.group_warps / declared_rate(pipelines, *op);
      EXPECT_GE(found_latency, 0.99 * std::max(latency, turns)) << known.name;
      EXPECT_LE(found_latency, 1.01 * (latency + turns)) << known.name;
    }
    if (!has_one_way(pipelines, *op)) continue;
    const double chains = known.group_warps > 1
                              ? 2 * known.group_warps
                              : 4.0 * sim.truth().device.max_threads_per_block / 32;
    const double rate = std::min(declared_rate(pipelines, *op), chains / latency);
    const double found = sim.number(metric(known.name, "throughput_per_cycle_per_sm"));
    EXPECT_NEAR(found, rate * known.per_warp, tolerance * rate * known.per_warp) << known.name;
    EXPECT_EQ(sim.find(metric(known.name, "latency_cycles")).reason,
              pipelines.machine_code(op->name));
  }
}

class ArithmeticOfModelTest : public testing::TestWithParam<const char*> {};

TEST_P(ArithmeticOfModelTest, declared_latencies_and_lanes_come_back) {
  expect_declared(JobOnSim(GetParam(), {"arithmetic"}));
}

INSTANTIATE_TEST_SUITE_P(Shipped, ArithmeticOfModelTest,
                         testing::Values("gtx280", "c2070", "fermi_dac16", "gtx560ti", "gtx780",
                                         "gtx980", "h200"));

/// Wong 2010, section IV-B and figure 6.
TEST(ArithmeticSimTest, the_gtx280_is_as_published) {
  const JobOnSim sim("gtx280", {"arithmetic"});
  const std::vector<double> latency = sim.vector("arithmetic.int_add.by_warps_cycles");
  const std::vector<double> rate = sim.vector("arithmetic.int_add.by_warps_per_cycle");

  ASSERT_EQ(latency.size(), 16u);  // 512 threads
  for (std::size_t warps = 1; warps <= 5; ++warps) {
    EXPECT_NEAR(latency[warps - 1], 24, 0.1);
    EXPECT_NEAR(rate[warps - 1], static_cast<double>(warps) * 32 / 24, 0.05) << warps;
  }
  for (std::size_t warps : {6u, 7u}) {
    EXPECT_GT(latency[warps - 1], 25) << warps;
    EXPECT_LT(rate[warps - 1], 7.9) << warps;
  }
  for (std::size_t warps = 8; warps <= 16; ++warps) EXPECT_NEAR(rate[warps - 1], 8, 0.05) << warps;
  EXPECT_NEAR(sim.number(metric("float_fma", "throughput_per_cycle_per_sm")), 7.9, 0.15);
  EXPECT_NEAR(sim.number(metric("int_mul", "latency_cycles")), 96, 0.5);
  EXPECT_NEAR(sim.number(metric("int_mad", "latency_cycles")), 120, 0.5);
  EXPECT_NEAR(sim.number(metric("float_sqrt_fast", "latency_cycles")),
              sim.number(metric("float_rsqrt", "latency_cycles")) +
                  sim.number(metric("float_reciprocal", "latency_cycles")),
              0.5);
  // Divisions of integers and of double precision are subroutines, those of floats a few
  // instructions.
  for (const char* name : {"int_divide", "double_divide"}) {
    EXPECT_GT(sim.number(metric(name, "latency_cycles")),
              3 * sim.number(metric("float_divide", "latency_cycles")));
    EXPECT_LT(sim.number(metric(name, "throughput_per_cycle_per_sm")),
              sim.number(metric("float_divide", "throughput_per_cycle_per_sm")) / 3);
  }
  // Fitted: products on both kinds of units.
  EXPECT_NEAR(sim.number(metric("float_mul", "throughput_per_cycle_per_sm")), 11.2, 0.15);
  // The special function units work beside the others, and sums and logic take turns.
  EXPECT_NEAR(sim.number("arithmetic.float_fma_with_float_rsqrt.overlap"), 1, 0.1);
  EXPECT_NEAR(sim.number("arithmetic.int_add_with_int_logic.overlap"), 0, 0.05);
  EXPECT_EQ(sim.status("arithmetic.schedulers"), Status::not_resolvable);
}

TEST(ArithmeticSimTest, the_h200_issues_one_instruction_a_cycle_on_each_of_four_schedulers) {
  const JobOnSim sim("h200", {"arithmetic"});

  EXPECT_EQ(sim.number("arithmetic.schedulers"), 4);
  EXPECT_NEAR(sim.number("arithmetic.issue_per_cycle_per_scheduler"), 1, 0.02);
  EXPECT_NEAR(sim.number("arithmetic.float_fma_with_int_add.overlap"), 1, 0.05);
  EXPECT_NEAR(sim.number("arithmetic.float_fma_with_float_mul.overlap"), 0, 0.05);
  const std::vector<double> by_ilp = sim.vector("arithmetic.float_fma.by_ilp_cycles");
  EXPECT_NEAR(by_ilp[0], 4, 0.1);
  EXPECT_NEAR(by_ilp[3], 8, 0.1);
}

TEST(ArithmeticSimTest, a_slow_sm_stands_out_of_the_map_and_not_of_the_value) {
  const JobOnSim sim("h200+slow_sm=17:3", {"arithmetic"});
  const std::vector<double> map = sim.vector("arithmetic.float_fma.by_sm_cycles");

  ASSERT_EQ(map.size(), 132u);
  EXPECT_NEAR(map[16], 4, 0.3);
  EXPECT_NEAR(map[17], 7, 0.3);
  EXPECT_NEAR(sim.number(metric("float_fma", "latency_cycles")), 4, 0.05);
}

}  // namespace
}  // namespace sonde::test
