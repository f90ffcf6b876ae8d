// The job `bypass` on a simulated Fermi: bypassing pays where warps thrash the L1 and nothing is
// lost elsewhere (Dai et al., DAC 2016).
#include "sim/job_on_sim.hpp"

#include <gmock/gmock.h>

#include <filesystem>

namespace sonde {
namespace {

using test::JobOnSim;
using ::testing::HasSubstr;

JobOnSim bypass_on(const std::string& model, double l1_bytes) {
  JobOnSim sim(model);
  sim.run("clock");
  sim.assume("cache.l1.size_bytes", l1_bytes);
  sim.run("bypass");
  return sim;
}

TEST(BypassSimTest, thrashing_warps_gain_on_the_papers_fermi_and_others_lose_nothing) {
  const JobOnSim sim = bypass_on("fermi_dac16", 16384);

  const auto cached = sim.vector("bypass.kms.cached");
  EXPECT_EQ(cached.size(), 9u);
  const auto performance = sim.vector("bypass.kms.accesses_per_cycle");
  const double best_l = sim.number("bypass.kms.best_l");
  EXPECT_GE(best_l, 1);
  EXPECT_LE(best_l, 5);
  EXPECT_GT(performance[static_cast<std::size_t>(best_l)], 1.5 * performance[8]);
  EXPECT_GT(performance[static_cast<std::size_t>(best_l)], 1.2 * performance[0]);
  EXPECT_GT(sim.number("bypass.kms.model_speedup"), 1.5);
  EXPECT_GT(sim.number("bypass.kms.congestion"), 1.5);
  EXPECT_GT(sim.number("bypass.rows_8.speedup"), 1.5);

  EXPECT_LT(sim.number("bypass.scp.speedup"), 1.1) << "data that nobody uses twice";
  EXPECT_GE(sim.number("bypass.scp.speedup"), 1);
  EXPECT_GT(sim.number("bypass.scp.model_speedup"), 0.95);

  EXPECT_EQ(sim.number("bypass.path.past_l1_hit_fraction"), 0);
  EXPECT_EQ(sim.number("bypass.path.no_allocate_hit_fraction"), 0);
  EXPECT_GT(sim.number("bypass.path.evict_first_hit_fraction"), 0.9);

  EXPECT_EQ(sim.vector("bypass.atx.windows.hits").front(), 0);
  EXPECT_EQ(sim.status("bypass.kms.windows.hits"), Status::skipped);
  EXPECT_THAT(sim.find("bypass.kms.windows.hits").reason, HasSubstr("full suite"));
  EXPECT_EQ(sim.status("bypass.kms.large_l1.speedups"), Status::not_present);
  EXPECT_GT(sim.number("bypass.held_out.gaining"), 2);
}

TEST(BypassSimTest, unknown_l1_is_an_answer) {
  JobOnSim sim("gtx280");
  sim.run("clock");
  sim.run("bypass");
  EXPECT_EQ(sim.status("bypass.kms.best_l"), Status::not_resolvable);
}

TEST(BypassSimTest, a_device_that_refuses_all_programs_says_why) {
  const std::filesystem::path model = std::filesystem::path(SONDE_WRITTEN_FOLDER) / "oddline.json";
  const JobOnSim sim = bypass_on(model.string(), 30720);

  EXPECT_EQ(sim.status("bypass.kms.best_l"), Status::not_resolvable);
  EXPECT_THAT(sim.find("bypass.kms.best_l").reason, HasSubstr("lines of 32, 64, ... 1024 B"));
}

}  // namespace
}  // namespace sonde
