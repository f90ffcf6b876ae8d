// The job cache.l2 gives back the L2 of every shipped model, with its partitions.
#include "device/sim/model/model_files.hpp"
#include "sim/hierarchy_truth.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <fstream>

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

/// Pages of 64 KiB: beyond 1 MiB the first TLB level misses, and a hit takes half of the way to the
/// memory longer.
TEST(CacheL2SmallPagesTest, the_reach_of_a_tlb_is_not_the_size) {
  const auto models = sim::shipped_models();
  const auto gtx980 =
      std::ranges::find_if(models, [](const auto& m) { return m.name == "gtx980"; });
  nlohmann::json model = nlohmann::json::parse(gtx980->json);
  model["pages"]["page_bytes"] = "64 KiB";
  model["pages"]["tlbs"][0]["entry_bytes"] = "64 KiB";
  model["pages"]["tlbs"][1]["sub_entries"] = 32;
  auto& latencies = model["paths"]["cg"]["latency_cycles"];
  latencies["l2"]["tlb_l2_hit"] = 294;
  latencies["dram"]["tlb_l2_hit"] = 463;
  const std::string path = testing::TempDir() + "small_pages.json";
  std::ofstream(path) << model;
  JobOnSim sim(path);

  sim.run("cache.l2", SuiteLevel::quick);

  EXPECT_EQ(sim.number("cache.l2.size_bytes"), 2 << 20);
  EXPECT_EQ(sim.find("cache.l2.size_bytes").confidence, 1);
  EXPECT_EQ(sim.status("cache.l2.segment_bytes"), Status::not_present);
}

}  // namespace
}  // namespace sonde::test
