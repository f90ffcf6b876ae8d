// The job dsm finds the declared latencies and bandwidths of distributed shared memory, by where
// both SMs lie, and says so where there is none.
#include "analysis/statistics.hpp"
#include "sim/job_on_sim.hpp"
#include "sim/shipped_json.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cmath>

namespace sonde::test {
namespace {

JobOnSim dsm_on(const std::string& model, std::uint64_t seed = 1) {
  return JobOnSim(model, seed, {"clock", "topology", "dsm"});
}

/// Declared latencies of all pairs of SMs of one GPC that may share a cluster of several TPCs.
struct DeclaredPairs {
  std::vector<double> same_tpc;
  std::vector<double> same_gpc;
};

DeclaredPairs declared_pairs(const sim::Model& model, const sim::Die& die) {
  DeclaredPairs pairs;
  const int last_tpc = model.chip.enabled_tpcs - model.chip.lone_tpcs;
  for (std::size_t a = 0; a < die.sms.size(); ++a) {
    for (std::size_t b = 0; b < die.sms.size(); ++b) {
      if (a == b || die.sms[a].gpc != die.sms[b].gpc) continue;
      if (die.sms[a].tpc >= last_tpc || die.sms[b].tpc >= last_tpc) continue;
      const double offset = die.sms[a].dsm_offset_cycles + die.sms[b].dsm_offset_cycles;
      const bool same_tpc = die.sms[a].tpc == die.sms[b].tpc;
      (same_tpc ? pairs.same_tpc : pairs.same_gpc)
          .push_back((same_tpc ? model.units.dsm->tpc_cycles : model.units.dsm->gpc_cycles) +
                     offset);
    }
  }
  return pairs;
}

TEST(DsmSimTest, latencies_of_the_h200_come_back_by_distance) {
  for (std::uint64_t seed : {1u, 2u, 3u}) {
    const JobOnSim sim = dsm_on("h200", seed);
    const DeclaredPairs pairs = declared_pairs(sim.truth(), sim.die());

    EXPECT_NEAR(sim.number("dsm.own_cycles"), sim.truth().units.dsm->own_cycles, 0.5) << seed;
    EXPECT_NEAR(sim.number("dsm.same_tpc_cycles"), median(pairs.same_tpc), 1) << seed;
    EXPECT_NEAR(sim.number("dsm.same_gpc_cycles"), median(pairs.same_gpc), 1) << seed;
    // Of the seven other blocks one lies in the same TPC: the median is of the others.
    EXPECT_NEAR(sim.number("dsm.latency_cycles"), median(pairs.same_gpc), 2) << seed;
    EXPECT_GE(sim.find("dsm.latency_cycles").replicates, 5u);
    EXPECT_GT(sim.find("dsm.latency_cycles").reproducibility, 0);
  }
}

TEST(DsmSimTest, readers_that_lie_further_away_show_in_the_map) {
  const std::string model = "h200+slow_sm=17:5";
  const JobOnSim sim = dsm_on(model);
  const sim::Die die = sim.die();
  const sim::DsmModel& dsm = *sim.truth().units.dsm;
  const std::vector<double> map = sim.vector("dsm.sm_cycles");

  ASSERT_EQ(map.size(), 132u);
  std::size_t unknown = 0;
  for (std::size_t sm = 0; sm < map.size(); ++sm) {
    if (std::isnan(map[sm])) {
      ++unknown;
      EXPECT_GE(sm, 120u);  // the six lone TPCs, numbered last
      continue;
    }
    const double others = dsm.sm_spread_cycles / 4;  // mean offset of what it reads
    const double slow = sm == 17 ? 5 : 0;
    EXPECT_NEAR(map[sm], dsm.gpc_cycles + die.sms[sm].dsm_offset_cycles + others + slow, 2) << sm;
  }
  EXPECT_EQ(unknown, 12u);
}

TEST(DsmSimTest, bandwidths_of_the_h200_come_back) {
  const JobOnSim sim = dsm_on("h200");
  const sim::DsmModel& dsm = *sim.truth().units.dsm;

  // The first element of a stream takes a latency: 1.5 % of the time of a reader alone.
  EXPECT_NEAR(sim.number("dsm.bytes_per_cycle"), dsm.port_bytes_per_cycle,
              0.02 * dsm.port_bytes_per_cycle);
  EXPECT_NEAR(sim.number("dsm.same_tpc_bytes_per_cycle"), dsm.port_bytes_per_cycle,
              0.02 * dsm.port_bytes_per_cycle);
  EXPECT_NEAR(sim.number("dsm.own_bytes_per_cycle"), dsm.own_bytes_per_cycle,
              0.02 * dsm.own_bytes_per_cycle);
  const double all = 8 * dsm.gpc_bytes_per_cycle * sim.truth().device.sm_clock_hz;
  EXPECT_NEAR(sim.number("dsm.joint_bytes_per_s"), all, 0.02 * all);
  const std::vector<double> joint = sim.vector("dsm.joint_bytes_per_cycle");
  ASSERT_EQ(joint.size(), 15u);
  EXPECT_NEAR(joint[0], dsm.gpc_bytes_per_cycle / 16, 0.6);  // clusters of two fill every GPC
}

TEST(DsmSimTest, without_a_map_of_tpcs_only_distances_are_unknown) {
  JobOnSim sim("h200", {"dsm"});

  EXPECT_EQ(sim.status("dsm.latency_cycles"), Status::ok);
  EXPECT_EQ(sim.status("dsm.own_cycles"), Status::ok);
  EXPECT_EQ(sim.status("dsm.same_tpc_cycles"), Status::not_resolvable);
  EXPECT_EQ(sim.status("dsm.same_gpc_bytes_per_cycle"), Status::not_resolvable);
  EXPECT_EQ(sim.status("dsm.sm_cycles"), Status::not_resolvable);
}

TEST(DsmSimTest, gpus_that_cannot_say_so) {
  for (const char* model : {"gtx980", "gtx280"}) {
    JobOnSim sim(model, {"dsm"});

    EXPECT_EQ(sim.status("dsm.latency_cycles"), Status::not_resolvable);
    EXPECT_NE(sim.find("dsm.latency_cycles").reason.find("cluster"), std::string::npos);
  }
  nlohmann::json model = json_of("h200");
  model.erase("dsm");
  JobOnSim sim(write_model(model, "no_dsm"), {"dsm"});
  EXPECT_EQ(sim.status("dsm.joint_bytes_per_s"), Status::not_resolvable);
}

}  // namespace
}  // namespace sonde::test
