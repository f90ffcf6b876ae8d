// The jobs on caches of loads in the quick suite, on every shipped model; carve-outs of the L1, and
// SMs whose L1 is another one.
#include "sim/hierarchy_truth.hpp"

namespace sonde::test {
namespace {

class QuickCachesTest : public ShippedModelTest {};

TEST_P(QuickCachesTest, of_loads_are_as_declared) {
  for (const char* job : {"cache.l1", "cache.readonly", "cache.l2"}) {
    sim_.run(job, SuiteLevel::quick);
  }

  expect_declared(sim_, {"cache.l1.", "cache.readonly.", "cache.l2."});
  if (first_cache_of(sim_.truth(), LoadPath::all_levels) == nullptr) return;
  const double miss = path_of(sim_.truth(), LoadPath::all_levels)->hit.back().front() +
                      sm_offset_cycles(sim_.truth(), seed(), LoadPath::all_levels);
  EXPECT_NEAR(sim_.number("cache.l1.miss_latency_cycles"), miss,
              tolerance_cycles(sim_.truth(), miss));
}

INSTANTIATE_TEST_SUITE_P(Shipped, QuickCachesTest, all_models_and_seeds(), name_case);

/// Read-only loads of a GTX 980 meet the L1, those of a GTX 780 a cache of their own.
TEST(KnownArrayTest, what_another_path_has_shown_is_tried_and_not_searched_again) {
  for (const auto& [model, is_same] : {std::pair("gtx980", true), std::pair("gtx780", false)}) {
    JobOnSim sim(model, {"cache.l1"});

    sim.run("cache.readonly");

    const Finding& sets = sim.find("cache.readonly.sets");
    EXPECT_EQ(sets.reason.find("the same array as cache.l1: 84 of 84 chases") != std::string::npos,
              is_same)
        << model << ": " << sets.reason;
    if (is_same) {
      EXPECT_DOUBLE_EQ(sets.confidence, sim.find("cache.l1.sets").confidence);
    }
  }
}

/// One SM has a way less, in all sets or in one: it is named, and what the others have is found
/// all the same, whichever SM the search begins with.
class OddSmTest : public testing::TestWithParam<const char*> {};

TEST_P(OddSmTest, is_named_and_leads_nobody_astray) {
  const std::string lost = GetParam();
  JobOnSim sim("h200+lost_way=" + lost, 3, {"cache.l1"});

  EXPECT_EQ(sim.vector("cache.l1.odd_sms"), std::vector{static_cast<double>(std::stoi(lost))});
  EXPECT_EQ(sim.number("cache.l1.alike_sms"), 131);
  EXPECT_EQ(sim.number("cache.l1.sets"), 512);
  EXPECT_EQ(sim.number("cache.l1.ways"), 4);
  EXPECT_EQ(sim.number("cache.l1.size_bytes"), 248.0 * 1024);
  EXPECT_EQ(sim.text("cache.l1.replacement"), "LRU guarding the last two hits");
}

TEST(EverySmTest, all_have_the_structure_of_the_one_it_was_found_on) {
  for (const auto& [model, cache] : {std::pair{"gtx280", std::string("cache.texture_l1")},
                                     std::pair{"gtx980", std::string("cache.l1")}}) {
    JobOnSim sim(model, 5);

    sim.run(cache);

    EXPECT_EQ(sim.number(cache + ".alike_sms"), sim.device().info().sm_count) << model;
    EXPECT_EQ(sim.status(cache + ".odd_sms"), Status::not_present) << model;
  }
}

INSTANTIATE_TEST_SUITE_P(LostWays, OddSmTest, testing::Values("0", "131:500"));

/// Neighbours of 1 KiB share a set of 768 bytes: a footprint overflows the first of 32 sets while
/// all others have room.
TEST(CacheL1SizeTest, is_not_what_the_first_full_set_holds) {
  nlohmann::json model = json_of("gtx980");
  for (nlohmann::json& cache : model["caches"]) {
    if (cache["name"] != "l1") continue;
    cache["sets"] = 32;
    cache["ways"] = 24;
    cache["index"] = {{"kind", "bit_field"}, {"low_bit", 10}, {"bits", 5}};
    cache["replacement"] = "lru";
  }
  JobOnSim sim(write_model(model, "sets_by_high_bits"), {"cache.l1"}, SuiteLevel::quick);

  EXPECT_EQ(sim.status("cache.l1.size_bytes"), Status::not_resolvable);
}

/// One load in 700 is late.
TEST(CacheL1CarveoutTest, is_as_large_beside_outliers) {
  nlohmann::json model = json_of("c2070");
  for (nlohmann::json& cache : model["caches"]) {
    if (cache["name"] != "l1") continue;
    for (nlohmann::json& shape : cache["by_carveout"]) shape["replacement"] = "lru";
  }
  model["noise"]["outlier_probability"] = 0.0015;
  const std::string path = write_model(model, "carveouts_beside_outliers");
  for (const std::uint64_t seed : {1, 2}) {
    JobOnSim sim(path, seed, {"cache.l1"});

    EXPECT_EQ(sim.vector("cache.l1.carveout_bytes"), (std::vector{16384.0, 49152.0}));
    EXPECT_EQ(sim.vector("cache.l1.size_by_carveout_bytes"), (std::vector{49152.0, 16384.0}));
  }
}

}  // namespace
}  // namespace sonde::test
