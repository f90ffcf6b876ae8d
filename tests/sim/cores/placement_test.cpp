// The placement job finds the latencies, the slow SM and the map of TPCs and GPCs of simulated
// GPUs.
#include "sim/job_on_sim.hpp"

#include <gtest/gtest.h>

#include <numeric>

namespace sonde::test {
namespace {

std::size_t place_of_l2(const sim::Model& model) {
  std::size_t place = 0;
  while (model.caches[place].name != "l2") ++place;
  return place;
}

TEST(PlacementSimTest, first_caches_of_all_paths_are_mapped) {
  JobOnSim sim("h200", 4, {"clock", "placement"});

  for (const auto& [metric, declared] : {std::pair{"placement.l1_latency_cycles", 32.0},
                                         std::pair{"placement.texture_latency_cycles", 88.0},
                                         std::pair{"placement.constant_latency_cycles", 30.0},
                                         std::pair{"placement.code_latency_cycles", 124.0}}) {
    const std::vector<double> map = sim.vector(metric);
    EXPECT_EQ(map.size(), 132u) << metric;
    for (const double cycles : map) EXPECT_NEAR(cycles, declared, 1) << metric;
  }
}

TEST(PlacementSimTest, latencies_of_a_maxwell_are_those_of_a_warm_tlb) {
  JobOnSim sim("gtx980", {"clock", "topology", "placement"});

  for (double latency : sim.vector("placement.l1_latency_cycles")) EXPECT_NEAR(latency, 82, 0.5);
  for (double latency : sim.vector("placement.l2_latency_cycles")) EXPECT_NEAR(latency, 214, 1);
  for (double latency : sim.vector("placement.dram_latency_cycles")) EXPECT_NEAR(latency, 383, 2);
  EXPECT_EQ(sim.status("placement.l2_near_cycles"), Status::not_resolvable);
  EXPECT_EQ(sim.status("placement.dram_near_cycles"), Status::not_resolvable);
}

TEST(PlacementSimTest, near_and_far_memory_of_two_partitions_are_told_apart) {
  JobOnSim sim("h200", {"clock", "topology", "placement"});

  const auto& cg = *sim.truth().paths[static_cast<std::size_t>(LoadPath::past_l1)];
  const sim::Die die = sim.die();
  const std::vector<std::int32_t>& offsets = die.cache_offset_cycles[place_of_l2(sim.truth())];
  const double middle_of_sms = std::accumulate(offsets.begin(), offsets.end(), 0.0) / 132;
  EXPECT_NEAR(sim.number("placement.dram_near_cycles"), cg.dram[0] + middle_of_sms, 5);
  EXPECT_NEAR(sim.number("placement.dram_far_cycles"), cg.dram_far[0] + middle_of_sms, 5);
}

/// A simulated GPU of that model after all that the job needs to name units.
JobOnSim placed(const std::string& model, std::uint64_t seed) {
  return JobOnSim(model, seed, {"clock", "topology", "placement"});
}

constexpr std::uint64_t seeds_of_faults = 4;

TEST(PlacementSimTest, slow_sm_is_named_and_nobody_else) {
  for (std::uint64_t seed = 1; seed <= seeds_of_faults; ++seed) {
    const JobOnSim sim = placed("h200+slow_sm=17:3", seed);

    EXPECT_EQ(sim.number("placement.slowest_sm"), 17) << seed;
    EXPECT_EQ(sim.status("placement.slowest_tpc"), Status::not_present) << seed;
    EXPECT_EQ(sim.status("placement.slowest_gpc"), Status::not_present) << seed;
    EXPECT_EQ(sim.find("placement.slowest_sm").reason.find("SM 16"), std::string::npos) << seed;
    const auto l1 = sim.vector("placement.l1_latency_cycles");
    EXPECT_NEAR(l1[17] - l1[16], 3, 0.3);
  }
}

TEST(PlacementSimTest, slow_port_of_a_tpc_is_named_and_nobody_else) {
  for (std::uint64_t seed = 1; seed <= seeds_of_faults; ++seed) {
    const JobOnSim sim = placed("h200+slow_tpc=31:0.9", seed);

    EXPECT_EQ(sim.number("placement.slowest_tpc"), 31) << seed;
    EXPECT_EQ(sim.status("placement.slowest_sm"), Status::not_present) << seed;
    EXPECT_EQ(sim.status("placement.slowest_gpc"), Status::not_present) << seed;
    const std::string reason = sim.find("placement.slowest_tpc").reason;
    EXPECT_EQ(reason.find("TPC 31"), reason.rfind("TPC")) << reason;
    const auto rates = sim.vector("placement.read_bytes_per_cycle");
    EXPECT_NEAR(rates[62] / rates[60], 0.9, 0.01) << seed;
    EXPECT_NEAR(rates[63] / rates[60], 0.9, 0.01) << seed;
  }
}

TEST(PlacementSimTest, healthy_dies_name_nobody) {
  for (const char* model : {"gtx280", "gtx980", "h200"}) {
    for (std::uint64_t seed = 1; seed <= seeds_of_faults; ++seed) {
      const JobOnSim sim = placed(model, seed);
      for (const char* metric :
           {"placement.slowest_sm", "placement.slowest_tpc", "placement.slowest_gpc"}) {
        EXPECT_NE(sim.status(metric), Status::ok) << sim.find(metric).reason << model << seed;
      }
    }
  }
}

TEST(PlacementSimTest, every_sm_moves_what_its_l1_and_its_banks_deliver) {
  for (const char* model : {"c2070", "h200"}) {
    JobOnSim sim(model, 2, {"clock", "cache.l1", "topology", "placement", "shared"});
    const sim::Model& truth = sim.truth();
    for (double rate : sim.vector("placement.read_l1_bytes_per_cycle")) {
      EXPECT_NEAR(rate / truth.units.throughput.l1_bytes_per_cycle, 1, 0.02) << model;
    }
    const double best = sim.number("shared.bytes_per_cycle_per_sm");  // of many shapes
    for (double rate : sim.vector("placement.copy_shared_bytes_per_cycle")) {
      EXPECT_GT(rate, 0.9 * best) << model;
      EXPECT_LT(rate, 1.02 * best) << model;
    }
    EXPECT_EQ(sim.vector("placement.read_dram_bytes_per_cycle").size(),
              static_cast<std::size_t>(truth.device.sm_count));
  }
}

}  // namespace
}  // namespace sonde::test
