// The bypass job shows on a simulated Fermi what Dai et al. (DAC 2016) saw: bypassing pays where
// warps thrash the L1, congestion grows steeply with the warps that use it, and nothing is lost
// elsewhere.
#include "sim/job_on_sim.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace sonde {
namespace {

using test::JobOnSim;

JobOnSim bypass_on(const std::string& model, double l1_bytes) {
  JobOnSim sim(model);
  sim.run("clock");
  sim.assume("cache.l1.size_bytes", l1_bytes);
  sim.run("bypass");
  return sim;
}

TEST(BypassSimTest, thrashing_warps_gain_by_bypassing_on_the_papers_fermi) {
  const JobOnSim sim = bypass_on("fermi_dac16", 16384);

  const auto hits = sim.vector("bypass.thrash.hits");
  ASSERT_EQ(hits.size(), 9u);
  EXPECT_EQ(hits[0], 0);
  EXPECT_GT(hits[3], hits[8]);
  const double best_l = sim.number("bypass.thrash.best_l");
  EXPECT_GE(best_l, 1);
  EXPECT_LE(best_l, 5);
  EXPECT_GT(sim.number("bypass.thrash.speedup"), 1.1);
  EXPECT_NEAR(sim.number("bypass.thrash.model_l"), best_l, 1);
  EXPECT_GT(sim.number("bypass.thrash.model_speedup"), 1.1);
}

TEST(BypassSimTest, congestion_rises_about_with_the_cube_of_the_warps) {
  const JobOnSim sim = bypass_on("fermi_dac16", 16384);

  EXPECT_NEAR(sim.number("bypass.thrash.exponent"), 3, 1.5);
  EXPECT_GT(sim.number("bypass.thrash.exponent_r2"), 0.8);
}

TEST(BypassSimTest, warps_that_fit_should_all_use_the_l1) {
  const JobOnSim sim = bypass_on("fermi_dac16", 16384);

  EXPECT_EQ(sim.number("bypass.fit.best_l"), 8);
  EXPECT_EQ(sim.number("bypass.fit.model_l"), 8);
  EXPECT_DOUBLE_EQ(sim.number("bypass.fit.speedup"), 1);
}

TEST(BypassSimTest, unknown_l1_is_an_answer) {
  JobOnSim sim("gtx280");
  sim.run("clock");
  sim.run("bypass");
  EXPECT_EQ(sim.status("bypass.thrash.best_l"), Status::not_resolvable);
}

}  // namespace
}  // namespace sonde
