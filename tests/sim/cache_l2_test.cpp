// The job cache.l2 gives back the L2 of every shipped model, with its partitions.
#include "device/sim/model/model_files.hpp"
#include "sim/hierarchy_truth.hpp"
#include "sim/shipped_json.hpp"
#include "support/random_gpu.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <fstream>
#include <memory>

namespace sonde::test {
namespace {

class CacheL2Test : public ShippedModelTest {};

TEST_P(CacheL2Test, gives_back_the_l2) {
  sim_.run("cache.l2", SuiteLevel::quick);

  const sim::Model& truth = sim_.truth();
  const sim::CacheModel* l2 = truth.find_cache("l2");
  if (l2 == nullptr) {
    EXPECT_EQ(sim_.status("cache.l2.size_bytes"), Status::not_present);
    EXPECT_EQ(sim_.status("cache.l2.line_bytes"), Status::not_present);
    return;
  }
  const double part = size_of(*l2, 0);
  EXPECT_EQ(sim_.number("cache.l2.size_bytes"), part * truth.partitions.count);
  EXPECT_EQ(sim_.number("cache.l2.line_bytes"), static_cast<double>(l2->line_bytes));
  EXPECT_EQ(sim_.number("cache.l2.sector_bytes"), static_cast<double>(l2->sector_bytes));
  EXPECT_EQ(sim_.number("cache.l2.fetch_bytes"), static_cast<double>(l2->fetch_bytes));
  const sim::PathModel& cg = *path_of(truth, LoadPath::past_l1);
  const double offset = sm_offset_cycles(truth, seed(), LoadPath::past_l1);
  const double hit = cg.hit.back().front() + offset;
  EXPECT_NEAR(sim_.number("cache.l2.hit_latency_cycles"), hit, tolerance_cycles(truth, hit));
  if (truth.partitions.count == 1) {
    EXPECT_EQ(sim_.status("cache.l2.segment_bytes"), Status::not_present);
    EXPECT_EQ(sim_.status("cache.l2.far_hit_latency_cycles"), Status::not_present);
    return;
  }
  // At 1.5 partitions of 30 MiB the chase has more pages than the first level of the TLB: some far
  // hits pay for that.
  const double translation = cg.far_hit[1] - cg.far_hit[0];
  EXPECT_EQ(sim_.number("cache.l2.segment_bytes"), part);
  EXPECT_NEAR(sim_.number("cache.l2.far_hit_latency_cycles"),
              cg.far_hit.front() + offset + translation / 2,
              tolerance_cycles(truth, hit) + translation / 2);
}

INSTANTIATE_TEST_SUITE_P(Shipped, CacheL2Test, all_models_and_seeds(), name_case);

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
  const std::string path = testing::TempDir() + "/stores_of_sectors.json";
  std::ofstream(path) << model;
  JobOnSim sim(path);
  sim.run("cache.l1", SuiteLevel::quick);
  sim.run("cache.l2", SuiteLevel::quick);
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

/// A drawn GPU whose clock counts in steps of four cycles: its atomics take 432 and 436.
class ClockStepsTest : public testing::Test {
 protected:
  void SetUp() override {
    const std::string path = testing::TempDir() + "/clock_steps.json";
    std::ofstream(path) << draw_gpu(105);
    sim_ = std::make_unique<JobOnSim>(path, 105);
    ASSERT_EQ(sim_->truth().partitions.count, 1);
    ASSERT_EQ(sim_->truth().clock.granularity_cycles, 4);
    sim_->run("cache.l2");
  }

  std::unique_ptr<JobOnSim> sim_;
};

TEST_F(ClockStepsTest, are_no_partitions) {
  EXPECT_EQ(sim_->status("cache.l2.atomic_near_cycles"), Status::not_present);
  EXPECT_EQ(sim_->status("cache.l2.home_function"), Status::not_present);
}

}  // namespace
}  // namespace sonde::test
