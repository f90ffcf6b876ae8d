// The clock job finds the declared clock of every shipped GPU.
#include "sim/job_on_sim.hpp"

#include <gtest/gtest.h>

#include <map>
#include <tuple>

namespace sonde {
namespace {

using test::JobOnSim;

class ClockSimTest : public testing::TestWithParam<std::tuple<const char*, std::uint64_t>> {};

TEST_P(ClockSimTest, declared_clock_is_recovered) {
  JobOnSim sim(std::get<0>(GetParam()), std::get<1>(GetParam()));
  sim.run("clock");

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

INSTANTIATE_TEST_SUITE_P(ShippedGpus, ClockSimTest,
                         testing::Combine(testing::Values("gtx280", "c2070", "gtx560ti", "gtx780",
                                                          "gtx980", "fermi_dac16", "h200"),
                                          testing::Values(1u, 7u)));

TEST(ClockSimTruthTest, tpcs_of_gt200_have_three_sms_on_one_clock) {
  JobOnSim sim("gtx280");
  sim.run("clock");

  std::map<double, int> sizes;
  for (double group : sim.vector("clock.group_of_sm")) ++sizes[group];
  EXPECT_EQ(sizes.size(), 10u);
  for (const auto& [group, size] : sizes) EXPECT_EQ(size, 3) << "group " << group;
}

TEST(ClockSimTruthTest, throttled_clock_is_measured_as_it_runs) {
  JobOnSim sim("h200+throttle=0.7");
  sim.run("clock");
  EXPECT_NEAR(sim.number("clock.sm_hz"), 0.7 * sim.truth().device.sm_clock_hz, 3e6);
}

}  // namespace
}  // namespace sonde
