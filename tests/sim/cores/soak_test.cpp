// A soak finds that a steady GPU is steady, and a clock that drops on the way with its heat.
#include "sim/job_on_sim.hpp"

#include <gtest/gtest.h>

namespace sonde::test {
namespace {

constexpr std::size_t usual_rounds = 12;

TEST(SoakSimTest, a_steady_gpu_ends_as_it_began) {
  JobOnSim sim("h200", {"soak"}, SuiteLevel::full);

  EXPECT_NEAR(sim.number("soak.read_last_over_first"), 1, 0.005);
  EXPECT_NEAR(sim.number("soak.clock_last_over_first"), 1, 0.005);
  EXPECT_EQ(sim.vector("soak.read_by_round_bytes_per_s").size(), usual_rounds);
  EXPECT_NEAR(sim.vector("soak.time_s").back(), 60, 6);
  EXPECT_EQ(sim.number("soak.throttle_reasons"), 0);
  EXPECT_NEAR(sim.number("soak.clock_hz"),
              sim.truth().device.sm_clock_hz * sim.truth().units.pace.load_factor, 2e7);
}

TEST(SoakSimTest, a_clock_that_drops_half_way_shows_with_its_heat) {
  constexpr int launches_of_half = 1 + usual_rounds;  // one read, two launches of each round
  JobOnSim sim("h200+clock_drop=" + std::to_string(launches_of_half) + ":0.8", {"soak"},
               SuiteLevel::full);

  EXPECT_LT(sim.number("soak.clock_last_over_first"), 0.85);
  const std::vector<double> clocks_hz = sim.vector("soak.clock_by_round_hz");
  EXPECT_NEAR(clocks_hz.back() / clocks_hz.front(), 0.8, 0.01);
  const std::vector<double> temperatures_c = sim.vector("soak.temperature_by_round_c");
  EXPECT_GT(temperatures_c.back(), temperatures_c.front() + 20);
  EXPECT_EQ(sim.number("soak.highest_temperature_c"), temperatures_c.back());
  EXPECT_NE(sim.number("soak.throttle_reasons"), 0);
}

}  // namespace
}  // namespace sonde::test
