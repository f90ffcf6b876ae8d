// The caches of textures, constants and code come back level behind level, as the models declare
// them: what Wong et al. 2010 and Mei and Chu 2016 found, and those of the H200.
#include "jobs/cache/report.hpp"
#include "sim/hierarchy_truth.hpp"
#include "sim/shipped_json.hpp"

#include <fmt/format.h>

#include <gmock/gmock.h>

namespace sonde::test {
namespace {

/// Hits in the L2 take as long as declared; if it is divided, in two modes.
void assume_l2_hits(JobOnSim& sim) {
  const sim::PathModel& plain = *path_of(sim.truth(), LoadPath::past_l1);
  Finding hits =
      found("cache.l2.hit_latency_cycles", static_cast<double>(plain.hit.front().front()), 1, 1);
  if (sim.truth().partitions.count > 1) {
    hits.modes = {static_cast<double>(plain.hit.front().front()),
                  static_cast<double>(plain.far_hit.front())};
  }
  sim.assume(hits);
}

class CacheLevelsTest : public ShippedModelTest {
 protected:
  void SetUp() override {
    const sim::CacheModel* l2 = sim_.truth().find_cache("l2");
    if (l2 == nullptr) return;
    const auto bytes = static_cast<double>(l2->size_bytes(l2->geometries.front()));
    sim_.assume("cache.l2.size_bytes", bytes * sim_.truth().partitions.count);
    sim_.assume("cache.l2.segment_bytes", bytes);
    assume_l2_hits(sim_);
  }
};

class TextureLevelsTest : public CacheLevelsTest {};

TEST_P(TextureLevelsTest, come_back_with_the_tiles_of_two_dimensions) {
  sim_.run("cache.l1");  // which textures may meet, too
  sim_.run("cache.texture_l1");
  sim_.run("cache.texture_l2");

  expect_declared(sim_, {"cache.texture_"});
  // A miss of the first level brings one of its blocks, as far as that reaches over a tile.
  const sim::Tile& tile = *path_of(sim_.truth(), LoadPath::texture_2d)->tile;
  const std::uint64_t fetch = first_cache_of(sim_.truth(), LoadPath::texture_2d)->fetch_bytes;
  EXPECT_EQ(sim_.number("cache.texture_l1.tile_bytes"), static_cast<double>(fetch));
  EXPECT_EQ(sim_.number("cache.texture_l1.tile_rows"),
            static_cast<double>(std::max<std::uint64_t>(1, fetch / tile.width_bytes)));
}

INSTANTIATE_TEST_SUITE_P(Shipped, TextureLevelsTest,
                         testing::Combine(testing::Values("gtx280", "gtx560ti", "gtx780", "gtx980",
                                                          "c2070"),
                                          seeds_to(3)),
                         name_case);
INSTANTIATE_TEST_SUITE_P(Hopper, TextureLevelsTest,
                         testing::Combine(testing::Values("h200"), testing::Values(1u)), name_case);

class BankLevelsTest : public CacheLevelsTest {};

TEST_P(BankLevelsTest, of_constants_come_back) {
  sim_.run("cache.constant_l1");
  sim_.run("cache.constant_l2");
  sim_.run("cache.constant_l3");

  expect_declared(sim_, {"cache.constant_"});
  if (model_name() == "gtx280") {
    EXPECT_NEAR(sim_.number("cache.constant_l3.miss_latency_cycles"), 476, 2);
  } else {
    EXPECT_EQ(sim_.find("cache.constant_l2.size_bytes").reason,
              "holds the whole constant bank: 64 KiB or more");
  }
}

TEST_P(BankLevelsTest, of_code_come_back) {
  sim_.run("cache.instruction");
  expect_declared(sim_, {"cache.instruction_"});
}

INSTANTIATE_TEST_SUITE_P(Tesla, BankLevelsTest,
                         testing::Combine(testing::Values("gtx280"), seeds_to(3)), name_case);
INSTANTIATE_TEST_SUITE_P(Hopper, BankLevelsTest,
                         testing::Combine(testing::Values("h200"), seeds_to(1)), name_case);

TEST(CacheLevelsPathTest, that_a_device_lacks_is_not_present) {
  JobOnSim sim("fermi_dac16", {"cache.texture_l1", "cache.constant_l2", "cache.instruction"});

  for (const char* cache : {"cache.texture_l1", "cache.constant_l2", "cache.instruction_l1"}) {
    EXPECT_EQ(sim.status(cache + std::string(".size_bytes")), Status::not_present);
    EXPECT_EQ(sim.status(cache + std::string(".hit_latency_cycles")), Status::not_present);
  }
  EXPECT_EQ(sim.status("cache.texture_l1.tile_bytes"), Status::not_present);
}

TEST(CacheLevelsPathTest, what_answers_sooner_than_the_l2_may_be_it_or_a_cache_before_it) {
  const auto status_behind = [](int cycles) {
    nlohmann::json model = json_of("h200");
    auto& latencies = model["paths"]["instruction"]["latency_cycles"];
    latencies["far"] = latencies["far"].get<int>() - latencies["l2"].get<int>() + cycles;
    latencies["l2"] = cycles;
    JobOnSim sim(write_model(model, fmt::format("code_by_l2_after_{}", cycles)));
    assume_l2_hits(sim);
    sim.run("cache.instruction");
    return sim.status("cache.instruction_l2.size_bytes");
  };
  EXPECT_EQ(status_behind(240), Status::not_resolvable);
  EXPECT_EQ(status_behind(290), Status::not_present);
}

TEST(CacheLevelsPathTest, a_cache_as_slow_as_the_l2_of_plain_loads_is_not_taken_for_it) {
  nlohmann::json model = json_of("h200");
  nlohmann::json slow = *std::ranges::find_if(
      model["caches"], [](const auto& cache) { return cache["name"] == "instruction_l1"; });
  slow["name"] = "slow";
  slow["ways"] = 4 * slow["ways"].get<int>();
  model["caches"].push_back(slow);
  auto& code = model["paths"]["instruction"];
  code["caches"] = {"instruction_l0", "instruction_l1", "slow", "l2"};
  code["latency_cycles"]["slow"] = 285;
  JobOnSim sim(write_model(model, "a_cache_of_code_as_slow_as_the_l2"));
  assume_l2_hits(sim);

  sim.run("cache.instruction");

  EXPECT_EQ(sim.status("cache.instruction_l2.size_bytes"), Status::not_resolvable);
}

TEST(CacheLevelsPathTest, a_level_behind_one_of_unknown_size_is_not_resolvable) {
  JobOnSim sim("gtx280", {"cache.constant_l2"});

  EXPECT_EQ(sim.status("cache.constant_l2.size_bytes"), Status::not_resolvable);
  EXPECT_EQ(sim.status("cache.constant_l2.sets"), Status::not_resolvable);
  EXPECT_NEAR(sim.number("cache.constant_l2.hit_latency_cycles"), 81, 2);
}

TEST(CacheLevelsPathTest, a_line_that_hardly_anything_tells_is_not_resolvable) {
  JobOnSim sim("gtx280");
  static const auto report = [](JobRun& run, const std::string& cache, double line_confidence) {
    const CacheGeometry geometry{.fetch = {.bytes = 256, .agreement = 1, .observations = 16},
                                 .line_bytes = 256,
                                 .line_confidence = line_confidence,
                                 .bound = {4096, 4352},
                                 .footprints = {.asked = 20, .right = 20}};
    report_geometry({.run = run, .name = cache, .chase = {}}, geometry, {});
  };

  sim.run_part("cache.texture_l1", [](JobRun& run) { report(run, "cache.texture_l1", 0.2); });
  sim.run_part("cache.texture_l2", [](JobRun& run) { report(run, "cache.texture_l2", 0.5); });

  EXPECT_EQ(sim.status("cache.texture_l1.line_bytes"), Status::not_resolvable);
  EXPECT_THAT(sim.find("cache.texture_l1.line_bytes").reason, testing::HasSubstr("256 B"));
  EXPECT_EQ(sim.number("cache.texture_l1.size_bytes"), 4096) << "known all the same";
  EXPECT_EQ(sim.number("cache.texture_l2.line_bytes"), 256);
  EXPECT_EQ(sim.find("cache.texture_l2.line_bytes").confidence, 0.5);
}

}  // namespace
}  // namespace sonde::test
