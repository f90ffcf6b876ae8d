// Sectors of an L2 that loads bring together, and a clock whose steps look like partitions.
#include "device/sim/model/model_files.hpp"
#include "sim/hierarchy_truth.hpp"
#include "support/random_gpu.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace sonde::test {
namespace {

/// An L2 of 2 MiB that brings more than the L1 asks for (32 bytes).
Finding sector_of_l2(std::uint64_t sector_bytes, std::uint64_t fetch_bytes,
                     const std::string& store_miss) {
  nlohmann::json model = json_of("gtx980");
  nlohmann::json& l2 = *std::ranges::find_if(
      model["caches"], [](const nlohmann::json& cache) { return cache["name"] == "l2"; });
  l2.erase("prefetch");
  l2.update({{"line_bytes", 128},
             {"sector_bytes", sector_bytes},
             {"fetch_bytes", fetch_bytes},
             {"sets", 1024},
             {"index", {{"kind", "bit_field"}, {"low_bit", 7}, {"bits", 10}}},
             {"replacement", "lru"},
             {"write_policy", {{"hit", "update"}, {"miss", store_miss}}}});
  JobOnSim sim(write_model(model, "stores_of_sectors"), {"cache.l1", "cache.l2"},
               SuiteLevel::quick);
  EXPECT_EQ(sim.number("cache.l2.fetch_bytes"), static_cast<double>(fetch_bytes));
  return sim.find("cache.l2.sector_bytes");
}

/// As on an H200: loads bring two sectors, stores none.
TEST(CacheL2StoresTest, show_sectors_that_loads_bring_together) {
  EXPECT_EQ(sector_of_l2(32, 64, "allocate_stored").value, Value{32.0});
  EXPECT_EQ(sector_of_l2(32, 128, "allocate_stored").value, Value{32.0});
  EXPECT_EQ(sector_of_l2(64, 128, "allocate_stored").value, Value{64.0});
}

TEST(CacheL2StoresTest, that_fetch_or_leave_nothing_show_none) {
  for (const char* store_miss : {"allocate", "no_allocate"})
    EXPECT_EQ(sector_of_l2(32, 64, store_miss).status, Status::not_resolvable) << store_miss;
}

TEST(CacheL2SizeTest, is_sure_where_hits_end_in_a_step) {
  JobOnSim sim("h200", {"cache.l2"});
  EXPECT_EQ(sim.number("cache.l2.size_bytes"), 2 * sim.number("cache.l2.segment_bytes"));
  EXPECT_GE(sim.find("cache.l2.size_bytes").confidence, 0.95);
}

TEST(CacheL2SizeTest, is_not_told_by_footprints_that_lose_lines_little_by_little) {
  nlohmann::json model = json_of("h200");
  for (nlohmann::json& cache : model["caches"])
    if (cache["name"] == "l2") cache["replacement"] = "random";
  JobOnSim sim(write_model(model, "random_l2"), {"cache.l2"});
  EXPECT_EQ(sim.status("cache.l2.size_bytes"), Status::not_resolvable);
  EXPECT_EQ(sim.status("cache.l2.segment_bytes"), Status::not_resolvable);
  const Finding& first_miss = sim.find("cache.l2.first_miss_bytes");
  ASSERT_TRUE(first_miss.interval);
  EXPECT_LE(first_miss.interval->low, sim.number("cache.l2.first_miss_bytes"));
  EXPECT_LE(first_miss.confidence, 0.8) << "three further draws";
}

/// SMs 0, 7, 14, ... of this chip are on GPCs 0 and 3 alone, which have one partition.
TEST(CacheL2PartitionsTest, show_where_equal_steps_over_the_sms_meet_one_alone) {
  nlohmann::json model = json_of("h200");
  model["chip"].update({{"gpcs", 7}, {"enabled_tpcs", 56}});
  model["chip"].erase("lone_tpcs");
  JobOnSim sim(write_model(model, "seven_gpcs"), {"cache.l2"});

  EXPECT_NE(sim.status("cache.l2.segment_bytes"), Status::not_present);
  EXPECT_EQ(sim.status("cache.l2.far_hit_latency_cycles"), Status::ok);
}

/// A drawn GPU whose clock counts in steps of four cycles: its atomics take 432 and 436.
TEST(ClockStepsTest, are_no_partitions) {
  JobOnSim sim(write_model(nlohmann::json::parse(draw_gpu(105)), "clock_steps"), 105);
  ASSERT_EQ(sim.truth().partitions.count, 1);
  ASSERT_EQ(sim.truth().clock.granularity_cycles, 4);

  sim.run("cache.l2");

  EXPECT_EQ(sim.status("cache.l2.atomic_near_cycles"), Status::not_present);
  EXPECT_EQ(sim.status("cache.l2.home_function"), Status::not_present);
}

}  // namespace
}  // namespace sonde::test
