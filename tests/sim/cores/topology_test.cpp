// The job topology finds TPCs and GPCs of shipped and of drawn chips, and says so where it cannot.
#include "sim/job_on_sim.hpp"
#include "sim/score/floor_map_score.hpp"
#include "support/random_floor_map.hpp"
#include "support/random_gpu.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <functional>
#include <map>

namespace sonde::test {
namespace {

/// Group numbers by lowest SM, as the job gives them.
std::vector<double> numbered(const std::vector<sim::DieSm>& places, int sim::DieSm::*unit) {
  std::map<int, int> number;
  std::vector<double> result;
  for (const sim::DieSm& place : places) {
    result.push_back(
        number.try_emplace(place.*unit, static_cast<int>(number.size())).first->second);
  }
  return result;
}

TEST(TopologySimTest, h200_map_is_recovered) {
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    JobOnSim sim("h200", seed, {"clock", "topology"});

    const sim::Die die = sim.die();
    EXPECT_EQ(sim.vector("topology.tpc_of_sm"), numbered(die.sms, &sim::DieSm::tpc));
    EXPECT_EQ(sim.vector("topology.gpc_of_sm"), numbered(die.sms, &sim::DieSm::gpc));
    EXPECT_EQ(sim.number("topology.sm_count"), 132);
    EXPECT_EQ(sim.number("topology.tpc_count"), 66);
    EXPECT_EQ(sim.number("topology.gpc_count"), 8);
    std::map<int, double> sizes;
    for (const sim::DieSm& place : die.sms) ++sizes[place.gpc];
    std::vector<double> sorted;
    for (const auto& [gpc, size] : sizes) sorted.push_back(size);
    std::sort(sorted.begin(), sorted.end(), std::greater<>());
    EXPECT_EQ(sim.vector("topology.gpc_sizes"), sorted);
  }
}

TEST(TopologySimTest, tpcs_of_gt200_are_found_by_their_clock_and_gpcs_are_not) {
  JobOnSim sim("gtx280", {"clock", "topology"});

  EXPECT_EQ(sim.number("topology.tpc_count"), 10);
  EXPECT_EQ(sim.vector("topology.tpc_of_sm"), numbered(sim.die().sms, &sim::DieSm::tpc));
  EXPECT_EQ(sim.status("topology.gpc_count"), Status::not_resolvable);
}

TEST(TopologySimTest, sms_with_ports_of_their_own_tell_nothing) {
  for (const char* model : {"c2070", "gtx560ti", "gtx780", "gtx980", "fermi_dac16"}) {
    JobOnSim sim(model, {"clock", "topology"});

    EXPECT_EQ(sim.status("topology.tpc_of_sm"), Status::not_resolvable) << model;
    EXPECT_EQ(sim.status("topology.gpc_of_sm"), Status::not_resolvable) << model;
  }
}

TEST(TopologySimTest, maps_of_drawn_chips_are_exact) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const FloorMapScore score = score_floor_map(draw_floor_map(seed), seed);
    EXPECT_EQ(score.gpcs, MapScore::exact) << score.text;
    EXPECT_LE(score.tpcs, MapScore::none) << score.text;
  }
}

/// GPCs of one TPC, TPCs of one SM, ports that only some GPCs overload: what is not known of some
/// SMs is not counted.
TEST(TopologySimTest, counts_of_small_chips_are_right_or_not_given) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const FloorMapScore score = score_floor_map(draw_gpu(seed), seed);
    EXPECT_TRUE(score.counts_are_right) << score.text;
    EXPECT_LE(score.gpcs, MapScore::none) << score.text;
    EXPECT_LE(score.tpcs, MapScore::none) << score.text;
  }
}

TEST(TopologySimTest, gpcs_that_nothing_tells_are_not_resolvable) {
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    nlohmann::json chip = nlohmann::json::parse(draw_floor_map(seed));
    chip["throughput"].erase("gpc_port_bytes_per_cycle");
    chip["device"].erase("max_cluster_blocks");
    chip["clock"]["scope"] = "sm";
    const FloorMapScore score = score_floor_map(chip.dump(), seed);
    EXPECT_EQ(score.gpcs, MapScore::none) << score.text;
    EXPECT_LE(score.tpcs, MapScore::none) << score.text;
  }
}

/// Clusters of two, of the SMs of one GPC in any order, join its SMs and name no TPC.
TEST(TopologySimTest, pairs_that_change_name_no_tpc) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    nlohmann::json chip = nlohmann::json::parse(draw_floor_map(seed));
    chip["throughput"].erase("gpc_port_bytes_per_cycle");
    chip["throughput"]["tpc_port_bytes_per_cycle"] = 1000;
    chip["device"]["compute_major"] = 9;
    chip["device"]["max_cluster_blocks"] = 2;
    chip["chip"]["cluster_order"] = "any";
    chip["chip"]["lone_tpcs"] = 0;
    chip["clock"]["scope"] = "sm";
    const FloorMapScore score = score_floor_map(chip.dump(), seed);
    EXPECT_EQ(score.gpcs, MapScore::exact) << score.text;
    EXPECT_EQ(score.tpcs, MapScore::none) << score.text;
  }
}

}  // namespace
}  // namespace sonde::test
