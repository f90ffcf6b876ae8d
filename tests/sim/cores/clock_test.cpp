// The clock job finds the declared clock of every shipped GPU.
#include "sim/job_on_sim.hpp"
#include "sim/shipped_json.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <tuple>

namespace sonde::test {
namespace {

void expect_clock(const JobOnSim& sim) {
  const sim::ClockModel& clock = sim.truth().clock;
  const double granularity = clock.granularity_cycles;
  EXPECT_NEAR(sim.number("clock.overhead_cycles"), clock.empty_window_cycles, granularity / 2);
  EXPECT_NEAR(sim.number("clock.window_cycles"), clock.sink_window_cycles, granularity / 2);
  EXPECT_EQ(sim.number("clock.granularity_cycles"), granularity);
  EXPECT_EQ(sim.number("clock.globaltimer_step_ns"), clock.globaltimer_step_ns);
  const double declared_hz = sim.truth().device.sm_clock_hz;
  EXPECT_NEAR(sim.number("clock.sm_hz"), declared_hz, declared_hz * 1e-3);
  const char* scopes[] = {"sm", "tpc", "gpc", "partition", "device"};
  EXPECT_EQ(sim.text("clock.scope"), scopes[static_cast<int>(clock.scope)]);
}

void expect_launches(const JobOnSim& sim) {
  const sim::LaunchModel& launches = sim.truth().units.launches;
  const double step_ns = sim.truth().clock.globaltimer_step_ns;
  const double lone_ns = launches.wait_ns + launches.kernel_ns;
  EXPECT_NEAR(sim.number("clock.launch_overhead_ns"), lone_ns, 0.05 * lone_ns);
  EXPECT_NEAR(sim.number("clock.launch_queued_ns"), launches.kernel_ns + launches.gap_ns,
              0.02 * lone_ns);
  EXPECT_NEAR(sim.number("clock.launch_gap_ns"), launches.gap_ns, step_ns + 100);
  EXPECT_NEAR(sim.number("clock.launch_spread_ns"), launches.spread_ns,
              step_ns + 0.2 * launches.spread_ns);
  EXPECT_EQ(sim.text("clock.launch_order"), "serial");
}

void expect_steady_pace(const JobOnSim& sim) {
  const double declared_hz = sim.truth().device.sm_clock_hz;
  EXPECT_NEAR(sim.number("clock.load_hz"), declared_hz, 1e-3 * declared_hz);
  EXPECT_NEAR(sim.number("clock.load_ratio"), 1, 2e-3);
  EXPECT_EQ(sim.number("clock.settle_ms"), 0);
  EXPECT_LT(sim.number("clock.jitter_fraction"), 2e-3);
  EXPECT_EQ(sim.text("clock.sound"), "yes");
  EXPECT_EQ(sim.find("clock.sound").reason, "");
}

class ClockSimTest : public testing::TestWithParam<std::tuple<const char*, std::uint64_t>> {};

TEST_P(ClockSimTest, clock_launches_and_pace_are_as_declared) {
  JobOnSim sim(std::get<0>(GetParam()), std::get<1>(GetParam()), {"clock"});

  expect_clock(sim);
  expect_launches(sim);
  expect_steady_pace(sim);
}

INSTANTIATE_TEST_SUITE_P(ShippedGpus, ClockSimTest,
                         testing::Combine(testing::Values("gtx280", "c2070", "gtx560ti", "gtx780",
                                                          "gtx980", "fermi_dac16", "h200"),
                                          testing::Values(1u, 7u)));

TEST(ClockPaceSimTest, a_clock_that_never_becomes_steady_is_not_sound) {
  nlohmann::json model = json_of("h200");
  model["pace"] = {{"cold_factor", 0.3}, {"ramp_ns", 200e6}};
  JobOnSim sim(write_model(model, "slow_ramp"), {"clock"});

  EXPECT_EQ(sim.status("clock.settle_ms"), Status::not_resolvable);
  EXPECT_EQ(sim.status("clock.load_hz"), Status::not_resolvable);
  EXPECT_EQ(sim.text("clock.sound"), "no");
}

TEST(ClockPaceSimTest, a_clock_that_falls_under_load_is_measured_and_not_sound) {
  nlohmann::json model = json_of("h200");
  model["pace"] = {{"load_factor", 0.85}, {"jitter_fraction", 0.001}};
  JobOnSim sim(write_model(model, "falls_under_load"), {"clock"});

  EXPECT_NEAR(sim.number("clock.load_hz"), 0.85 * 1980e6, 3e6);
  EXPECT_NEAR(sim.number("clock.load_ratio"), 0.85, 0.002);
  EXPECT_NEAR(sim.number("clock.jitter_fraction"), 0.001, 0.0004);
  EXPECT_EQ(sim.text("clock.sound"), "no");
  EXPECT_NE(sim.find("clock.sound").reason.find("85 %"), std::string::npos);
}

TEST(ClockPaceSimTest, a_throttled_gpu_is_not_sound_and_says_why) {
  JobOnSim sim("h200+throttle=0.95", {"clock"});

  EXPECT_NEAR(sim.number("clock.load_hz"), 0.95 * 1980e6, 3e6);
  EXPECT_EQ(sim.text("clock.sound"), "no");
  EXPECT_NE(sim.find("clock.sound").reason.find("heat or power"), std::string::npos);
}

TEST(ClockPaceSimTest, a_cold_clock_is_waited_for) {
  nlohmann::json model = json_of("h200");
  model["pace"] = {{"cold_factor", 0.7}, {"ramp_ns", 9e6}, {"load_factor", 0.99}};
  JobOnSim sim(write_model(model, "cold_clock"), {"clock"});

  EXPECT_NEAR(sim.number("clock.settle_ms"), 9, 0.8);
  EXPECT_NEAR(sim.number("clock.load_ratio"), 0.99, 0.003);
  EXPECT_EQ(sim.text("clock.sound"), "yes");
}

TEST(ClockPaceSimTest, the_quick_suite_leaves_settling_out) {
  JobOnSim sim("h200", {"clock"}, SuiteLevel::quick);

  EXPECT_EQ(sim.status("clock.settle_ms"), Status::skipped);
  EXPECT_EQ(sim.status("clock.load_hz"), Status::ok);
  EXPECT_EQ(sim.text("clock.sound"), "yes");
}

}  // namespace
}  // namespace sonde::test
