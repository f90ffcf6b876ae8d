// The job cache.l1 gives back the first cache of each path of every shipped model.
#include "sim/hierarchy_truth.hpp"
#include "sim/shipped_json.hpp"

#include <fstream>

namespace sonde::test {
namespace {

class CacheL1Test : public ShippedModelTest {
 protected:
  void expect_cache(const std::string& name, LoadPath path) {
    const sim::CacheModel* cache = first_cache(sim_.truth(), path);
    if (cache == nullptr) {
      EXPECT_EQ(sim_.status(name + ".size_bytes"), Status::not_present);
      EXPECT_EQ(sim_.status(name + ".line_bytes"), Status::not_present);
      return;
    }
    const sim::PathModel& declared = *path_of(sim_.truth(), path);
    const double hit = declared.hit.front().front();
    const double miss = declared.hit.back().front() + sm_offset_cycles(sim_.truth(), seed(), path);
    EXPECT_EQ(sim_.number(name + ".size_bytes"), size_of(*cache, chosen_carveout(sim_)));
    EXPECT_EQ(sim_.number(name + ".line_bytes"), static_cast<double>(cache->line_bytes));
    EXPECT_EQ(sim_.number(name + ".sector_bytes"), static_cast<double>(cache->sector_bytes));
    EXPECT_EQ(sim_.number(name + ".fetch_bytes"), static_cast<double>(cache->fetch_bytes));
    EXPECT_NEAR(sim_.number(name + ".hit_latency_cycles"), hit, 2);
    EXPECT_NEAR(sim_.number(name + ".miss_latency_cycles"), miss,
                tolerance_cycles(sim_.truth(), miss));
  }
};

TEST_P(CacheL1Test, gives_back_the_first_cache_of_each_path) {
  sim_.run("cache.l1", SuiteLevel::quick);
  sim_.run("cache.readonly", SuiteLevel::quick);

  expect_cache("cache.l1", LoadPath::all_levels);
  expect_cache("cache.readonly", LoadPath::read_only);
}

INSTANTIATE_TEST_SUITE_P(Shipped, CacheL1Test, all_models_and_seeds(), name_case);

TEST(CacheL1CarveoutTest, finds_both_sizes_of_a_fermi) {
  JobOnSim sim("c2070");

  sim.run("cache.l1");

  EXPECT_EQ(sim.vector("cache.l1.carveout_bytes"), (std::vector<double>{16384, 49152}));
  EXPECT_EQ(sim.vector("cache.l1.size_by_carveout_bytes"), (std::vector<double>{49152, 16384}));
}

TEST(CacheL1CarveoutTest, l1_and_shared_memory_of_a_hopper_fill_one_array) {
  JobOnSim sim("h200");

  sim.run("cache.l1");

  const std::vector<double> shared = sim.vector("cache.l1.carveout_bytes");
  const std::vector<double> sizes = sim.vector("cache.l1.size_by_carveout_bytes");
  ASSERT_EQ(shared.size(), 9U);
  for (std::size_t i = 0; i < shared.size(); ++i) EXPECT_EQ(shared[i] + sizes[i], 256.0 * 1024);
}

/// One SM has a way less, in all sets or in one: it is named, and what the others have is found
/// all the same, whichever SM the search begins with.
class OddSmTest : public testing::TestWithParam<const char*> {};

TEST_P(OddSmTest, is_named_and_leads_nobody_astray) {
  const std::string lost = GetParam();
  JobOnSim sim("h200+lost_way=" + lost, 3);

  sim.run("cache.l1");

  EXPECT_EQ(sim.vector("cache.l1.odd_sms"), std::vector{static_cast<double>(std::stoi(lost))});
  EXPECT_EQ(sim.number("cache.l1.alike_sms"), 131);
  EXPECT_EQ(sim.number("cache.l1.sets"), 512);
  EXPECT_EQ(sim.number("cache.l1.ways"), 4);
  EXPECT_EQ(sim.number("cache.l1.size_bytes"), 248.0 * 1024);
  EXPECT_EQ(sim.text("cache.l1.replacement"), "LRU guarding the last two hits");
}

TEST(EverySmTest, all_have_the_structure_of_the_one_it_was_found_on) {
  for (const char* model : {"h200", "gtx280", "gtx980"}) {
    JobOnSim sim(model, 5);
    const bool has_l1 = std::string(model) != "gtx280";
    const std::string cache = has_l1 ? "cache.l1" : "cache.texture_l1";

    sim.run(cache);

    EXPECT_EQ(sim.number(cache + ".alike_sms"), sim.device().info().sm_count) << model;
    EXPECT_EQ(sim.status(cache + ".odd_sms"), Status::not_present) << model;
  }
}

INSTANTIATE_TEST_SUITE_P(LostWays, OddSmTest, testing::Values("0", "0:17", "131:500"));

TEST(CacheL1CarveoutTest, is_absent_where_there_is_no_choice) {
  JobOnSim sim("gtx980");

  sim.run("cache.l1");

  EXPECT_EQ(sim.status("cache.l1.size_by_carveout_bytes"), Status::not_present);
}

/// One load in 700 is late.
TEST(CacheL1CarveoutTest, is_as_large_beside_outliers) {
  nlohmann::json model = json_of("c2070");
  for (nlohmann::json& cache : model["caches"]) {
    if (cache["name"] != "l1") continue;
    for (nlohmann::json& shape : cache["by_carveout"]) shape["replacement"] = "lru";
  }
  model["noise"]["outlier_probability"] = 0.0015;
  const std::string path = testing::TempDir() + "/carveouts_beside_outliers.json";
  std::ofstream(path) << model;
  for (const std::uint64_t seed : {1, 2, 3}) {
    JobOnSim sim(path, seed);

    sim.run("cache.l1");

    EXPECT_EQ(sim.vector("cache.l1.size_by_carveout_bytes"), (std::vector{49152.0, 16384.0}));
  }
}

}  // namespace
}  // namespace sonde::test
