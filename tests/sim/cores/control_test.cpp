// The job control finds what each simulated GPU declares of control flow, and what Wong 2010 found
// on the GT200.
#include "sim/job_on_sim.hpp"
#include "sim/shipped_json.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <numeric>

namespace sonde::test {
namespace {

JobOnSim control_on(const std::string& model, std::uint64_t seed = 1) {
  return JobOnSim(model, seed, {"clock", "control"});
}

/// Each level of a nest has an operation in front of its branch and one behind its join; both sides
/// of 0 are those that are jumped to.
void expect_declared_nest(const JobOnSim& sim, const sim::ControlModel& declared) {
  const double step = sim.truth().clock.granularity_cycles;
  EXPECT_NEAR(sim.number("control.nested_cost_cycles"),
              declared.branch_cycles + declared.path_switch_cycles + declared.reconvergence_cycles +
                  2.0 * declared.operation_cycles,
              step);
  EXPECT_NEAR(sim.number("control.nested_join_cycles"),
              declared.reconvergence_cycles + declared.operation_cycles, step);
  std::vector<double> order(32);
  std::iota(order.begin(), order.end(), 0);
  if (declared.first == sim::FirstSide::fall_through) std::ranges::reverse(order);
  EXPECT_EQ(sim.vector("control.nested_order"), order);
  const std::vector<double> begins = sim.vector("control.nested_begin_cycles");
  const std::vector<double> ends = sim.vector("control.nested_end_cycles");
  ASSERT_EQ(begins.size(), 32u);
  for (std::size_t i = 0; i < begins.size(); ++i) {
    EXPECT_NEAR(ends[i] - begins[i],
                16.0 * declared.operation_cycles + sim.truth().clock.empty_window_cycles, step)
        << i;
  }
  EXPECT_EQ(sim.vector("control.nested_depths"), (std::vector<double>{0, 1, 2, 3, 4, 5}));
}

/// What must come back of a declared mechanism, by the meaning of its words.
void expect_declared(const JobOnSim& sim) {
  const sim::ControlModel& declared = *sim.truth().units.control;
  const bool stack = declared.threads == sim::ThreadScheduling::stack;
  const bool taken = declared.first == sim::FirstSide::taken;
  const bool warps = declared.barrier.counts == sim::BarrierCount::warps;

  EXPECT_EQ(sim.text("control.divergence_model"), stack ? "stack" : "independent");
  EXPECT_EQ(sim.text("control.spin_release_deadlocks"), stack ? "yes" : "no");
  EXPECT_EQ(sim.text("control.barrier_spin_deadlocks"), "yes");
  EXPECT_EQ(sim.text("control.first_path"), taken ? "taken" : "fall_through");
  EXPECT_EQ(sim.text("control.order_depends_on"), "nothing");
  EXPECT_EQ(sim.text("control.paths"), "one after the other");
  EXPECT_EQ(sim.text("control.warps"), "overlap");
  EXPECT_EQ(sim.text("control.reconvergence"), "where the paths join");
  if (warps || !stack) {  // threads on a stack at a barrier of threads: one half never comes
    EXPECT_EQ(sim.text("control.barrier_participant"), warps ? "warp" : "thread");
  }
  EXPECT_NEAR(sim.number("control.barrier_latency_cycles"), declared.barrier.latency_cycles, 0.1);
  EXPECT_NEAR(sim.number("control.barrier_clock_pair_cycles"), sim.truth().units.shared.sync_cycles,
              0.1);
  EXPECT_NEAR(sim.number("control.barrier_warp_cycles"), declared.barrier.arrival_cycles, 0.1);
  EXPECT_NEAR(sim.number("control.reconvergence_cycles"), declared.reconvergence_cycles,
              sim.truth().clock.granularity_cycles);  // a difference of two readings
  // Each further path is divided off by a branch, is come to, and joins.
  const double cost = declared.path_switch_cycles + declared.reconvergence_cycles;
  EXPECT_GT(sim.number("control.divergence_cost_cycles"), cost * 0.9);
  EXPECT_LT(sim.number("control.divergence_cost_cycles"), cost + 2.0 * declared.branch_cycles);
  expect_declared_nest(sim, declared);
}

class ControlSimTest : public testing::TestWithParam<const char*> {};

TEST_P(ControlSimTest, declared_control_flow_comes_back) {
  const JobOnSim sim = control_on(GetParam());
  expect_declared(sim);
  const sim::GridBarrierModel& declared = sim.truth().units.control->grid_barrier;
  EXPECT_NEAR(
      sim.number("control.grid_barrier_cycles"),
      declared.latency_cycles + (sim.truth().device.sm_count - 1.0) * declared.arrival_cycles, 1);
}

INSTANTIATE_TEST_SUITE_P(Shipped, ControlSimTest, testing::ValuesIn(shipped_models),
                         [](const auto& model) { return std::string(model.param); });

/// Wong 2010, sections IV-C and IV-D.
TEST(ControlWongTest, gt200) {
  const JobOnSim sim = control_on("gtx280");

  EXPECT_NEAR(sim.number("control.barrier_latency_cycles"), 20, 0.1);
  EXPECT_EQ(sim.text("control.barrier_participant"), "warp");
  EXPECT_EQ(sim.text("control.divergence_model"), "stack");
  EXPECT_EQ(sim.text("control.spin_release_deadlocks"), "yes");
  EXPECT_EQ(sim.text("control.first_path"), "taken");
  std::vector<double> last_first(32);
  std::iota(last_first.rbegin(), last_first.rend(), 0);
  EXPECT_EQ(sim.vector("control.path_order"), last_first);
  const std::vector<double> begins = sim.vector("control.timeline_begin_cycles");
  const std::vector<double> ends = sim.vector("control.timeline_end_cycles");
  ASSERT_EQ(begins.size(), 64u);  // two warps
  for (std::size_t i = 0; i < begins.size(); ++i) EXPECT_GE(ends[i] - begins[i], 16 * 24) << i;
}

/// Mei and Chu 2016, section 6.1.
TEST(ControlMeiTest, pairs_of_a_barrier_and_a_clock_read) {
  for (const auto& [model, cycles] :
       {std::pair{"gtx560ti", 78}, std::pair{"gtx780", 37}, std::pair{"gtx980", 36}}) {
    EXPECT_NEAR(control_on(model).number("control.barrier_clock_pair_cycles"), cycles, 0.5)
        << model;
  }
}

TEST(ControlH200Test, barriers_of_clusters_and_sleeps_are_there) {
  const JobOnSim sim = control_on("h200");
  const sim::ControlModel& declared = *sim.truth().units.control;

  EXPECT_NEAR(sim.number("control.cluster_barrier_cycles"), declared.cluster_barrier_cycles, 1);
  EXPECT_EQ(sim.vector("control.cluster_barrier_blocks"), (std::vector<double>{2, 4, 8, 16}));
  EXPECT_NEAR(sim.number("control.nanosleep_least_ns"), declared.sleep->least_ns, 1);
  const std::vector<double> asked = sim.vector("control.nanosleep_asked_ns");
  const std::vector<double> taken = sim.vector("control.nanosleep_taken_ns");
  ASSERT_EQ(asked.size(), taken.size());
  for (std::size_t i = 0; i < asked.size(); ++i) {
    EXPECT_NEAR(taken[i], asked[i] + declared.sleep->least_ns + declared.sleep->step_ns / 2,
                declared.sleep->step_ns / 2);
  }
}

TEST(ControlSimRefusalTest, what_a_gpu_does_not_have_is_not_resolvable) {
  const JobOnSim sim = control_on("gtx980");
  EXPECT_EQ(sim.status("control.cluster_barrier_cycles"), Status::not_resolvable);
  EXPECT_NE(sim.find("control.cluster_barrier_cycles").reason.find("cluster"), std::string::npos);
  EXPECT_EQ(sim.status("control.nanosleep_taken_ns"), Status::not_resolvable);

  nlohmann::json model = json_of("gtx980");
  model.erase("control");
  const JobOnSim silent = control_on(write_model(model, "no_control"));
  EXPECT_EQ(silent.status("control.barrier_latency_cycles"), Status::not_resolvable);
  EXPECT_EQ(silent.status("control.divergence_model"), Status::not_resolvable);
  EXPECT_NE(silent.find("control.divergence_model").reason, "");
}

}  // namespace
}  // namespace sonde::test
