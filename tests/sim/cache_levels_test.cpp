// The caches of textures, constants and code come back level behind level, as the models declare
// them: what Wong et al. 2010 and Mei and Chu 2016 found, and those of the H200.
#include "jobs/cache/report.hpp"
#include "sim/finding_verdict.hpp"
#include "sim/hierarchy_truth.hpp"

#include <gmock/gmock.h>

namespace sonde::test {
namespace {

class CacheLevelsTest : public ShippedModelTest {
 protected:
  void SetUp() override {
    const sim::CacheModel* l2 = sim_.truth().find_cache("l2");
    if (l2 == nullptr) return;
    const auto bytes = static_cast<double>(l2->size_bytes(l2->geometries.front()));
    sim_.assume("cache.l2.size_bytes", bytes * sim_.truth().partitions.count);
    sim_.assume("cache.l2.segment_bytes", bytes);
    const sim::PathModel& plain = *path_of(sim_.truth(), LoadPath::past_l1);
    sim_.assume("cache.l2.hit_latency_cycles", static_cast<double>(plain.hit.front().front()));
  }

  /// The caches of a path before the L2, innermost first.
  std::vector<const sim::CacheModel*> own_caches(LoadPath path) const {
    std::vector<const sim::CacheModel*> caches;
    for (std::size_t number : path_of(sim_.truth(), path)->caches) {
      const sim::CacheModel& cache = sim_.truth().caches[number];
      if (cache.name != "l2") caches.push_back(&cache);
    }
    return caches;
  }

  void expect(const std::string& metric, const Declared& declared) {
    const Finding& found = sim_.find(metric);
    EXPECT_EQ(judge(DeclaredValue{metric, declared}, &found), Verdict::right)
        << metric << ": declared " << describe(declared) << ", found " << describe(found);
  }

  void expect_structure(const std::string& name, const sim::CacheModel& cache,
                        std::uint64_t shared_bytes) {
    const sim::Geometry& geometry = cache.geometry_for(shared_bytes);
    const auto sets = static_cast<std::uint32_t>(geometry.ways_per_set.size());
    const auto size = static_cast<double>(cache.size_bytes(geometry));
    expect(name + ".size_bytes", size);
    expect(name + ".first_miss_bytes", size);
    expect(name + ".line_bytes", static_cast<double>(cache.line_bytes));
    expect(name + ".fetch_bytes", static_cast<double>(cache.fetch_bytes));
    if (name.starts_with("cache.instruction")) return;
    expect(name + ".sets", static_cast<double>(sets));
    expect(name + ".ways", static_cast<double>(geometry.ways_per_set.front()));
    expect(name + ".ways_per_set",
           std::vector<double>(geometry.ways_per_set.begin(), geometry.ways_per_set.end()));
    expect(name + ".tag_reach_bytes", static_cast<double>(geometry.lines() * cache.line_bytes));
    expect(name + ".index_function", DeclaredIndex{geometry.index, sets, cache.line_bytes});
    expect(name + ".replacement",
           DeclaredPolicy{geometry.replacement.policy, geometry.ways_per_set});
    EXPECT_EQ(sim_.status(name + ".way_probability"), Status::not_present);
    EXPECT_EQ(sim_.status(name + ".prefetch_bytes"), Status::not_present);
  }

  /// All levels under these names: those of the path, and no more.
  void expect_levels(LoadPath path, const std::vector<std::string>& names,
                     std::uint64_t shared_bytes) {
    const std::vector<const sim::CacheModel*> caches = own_caches(path);
    const sim::PathModel& declared = *path_of(sim_.truth(), path);
    const sim::Die die = sim::make_die(sim_.truth(), {}, sim::die_seed(seed(), 0));
    for (std::size_t level = 0; level < names.size(); ++level) {
      if (level >= caches.size()) {
        EXPECT_EQ(sim_.status(names[level] + ".size_bytes"), Status::not_present);
        continue;
      }
      expect_structure(names[level], *caches[level], shared_bytes);
      const double hit =
          declared.hit[level].front() + die.cache_offset_cycles[declared.caches[level]].front();
      EXPECT_NEAR(sim_.number(names[level] + ".hit_latency_cycles"), hit, 2);
    }
  }

  std::uint64_t longest_carveout() {
    const auto& carveouts = sim_.device().info().shared_carveouts_bytes;
    return carveouts.empty() ? sim_.device().info().shared_bytes_per_sm : carveouts.back();
  }

  void run_constants() {
    sim_.run("cache.constant_l1");
    sim_.run("cache.constant_l2");
    sim_.run("cache.constant_l3");
  }
};

class TextureLevelsTest : public CacheLevelsTest {};

TEST_P(TextureLevelsTest, come_back_with_the_tiles_of_two_dimensions) {
  sim_.run("cache.texture_l1");
  sim_.run("cache.texture_l2");

  expect_levels(LoadPath::texture_1d, {"cache.texture_l1", "cache.texture_l2"},
                chosen_carveout(sim_));
  // A miss of the first level brings one of its blocks, as far as that reaches over a tile.
  const sim::Tile& tile = *path_of(sim_.truth(), LoadPath::texture_2d)->tile;
  const std::uint64_t fetch = own_caches(LoadPath::texture_2d).front()->fetch_bytes;
  EXPECT_EQ(sim_.number("cache.texture_l1.tile_bytes"), static_cast<double>(fetch));
  EXPECT_EQ(sim_.number("cache.texture_l1.tile_rows"),
            static_cast<double>(std::max<std::uint64_t>(1, fetch / tile.width_bytes)));
}

INSTANTIATE_TEST_SUITE_P(Tesla, TextureLevelsTest,
                         testing::Combine(testing::Values("gtx280"),
                                          testing::Range<std::uint64_t>(1, 11)),
                         name_case);
INSTANTIATE_TEST_SUITE_P(Later, TextureLevelsTest,
                         testing::Combine(testing::Values("gtx560ti", "gtx780", "gtx980", "c2070"),
                                          testing::Range<std::uint64_t>(1, 4)),
                         name_case);
INSTANTIATE_TEST_SUITE_P(Hopper, TextureLevelsTest,
                         testing::Values(std::tuple<const char*, std::uint64_t>("h200", 1)),
                         name_case);

class TeslaLevelsTest : public CacheLevelsTest {};

TEST_P(TeslaLevelsTest, of_constants_come_back) {
  run_constants();

  expect_levels(LoadPath::constant, {"cache.constant_l1", "cache.constant_l2", "cache.constant_l3"},
                longest_carveout());
  EXPECT_NEAR(sim_.number("cache.constant_l3.miss_latency_cycles"), 476, 2);
}

TEST_P(TeslaLevelsTest, of_code_come_back_without_a_level_zero) {
  sim_.run("cache.instruction");

  EXPECT_EQ(sim_.status("cache.instruction_l0.size_bytes"), Status::not_present);
  expect_levels(LoadPath::instruction,
                {"cache.instruction_l1", "cache.instruction_l2", "cache.instruction_l3"},
                longest_carveout());
}

INSTANTIATE_TEST_SUITE_P(Tesla, TeslaLevelsTest,
                         testing::Combine(testing::Values("gtx280"),
                                          testing::Range<std::uint64_t>(1, 11)),
                         name_case);

class HopperLevelsTest : public CacheLevelsTest {};

TEST_P(HopperLevelsTest, of_constants_end_with_one_that_holds_the_whole_bank) {
  run_constants();

  const auto caches = own_caches(LoadPath::constant);
  expect_structure("cache.constant_l1", *caches[0], longest_carveout());
  EXPECT_EQ(sim_.status("cache.constant_l2.size_bytes"), Status::not_resolvable);
  EXPECT_EQ(sim_.find("cache.constant_l2.size_bytes").reason,
            "holds the whole constant bank: 64 KiB or more");
  EXPECT_EQ(sim_.number("cache.constant_l2.fetch_bytes"),
            static_cast<double>(caches[1]->fetch_bytes));
  EXPECT_NEAR(sim_.number("cache.constant_l2.hit_latency_cycles"), 104, 2);
  EXPECT_EQ(sim_.status("cache.constant_l3.size_bytes"), Status::not_resolvable);
}

TEST_P(HopperLevelsTest, of_code_come_back_up_to_the_l2) {
  sim_.run("cache.instruction");

  expect_levels(LoadPath::instruction,
                {"cache.instruction_l0", "cache.instruction_l1", "cache.instruction_l2",
                 "cache.instruction_l3"},
                longest_carveout());
}

INSTANTIATE_TEST_SUITE_P(Hopper, HopperLevelsTest,
                         testing::Combine(testing::Values("h200"), seeds_to(1)), name_case);

TEST(CacheLevelsPathTest, that_a_device_lacks_is_not_present) {
  JobOnSim sim("fermi_dac16");

  sim.run("cache.texture_l1");
  sim.run("cache.constant_l2");
  sim.run("cache.instruction");

  for (const char* cache : {"cache.texture_l1", "cache.constant_l2", "cache.instruction_l1"}) {
    EXPECT_EQ(sim.status(cache + std::string(".size_bytes")), Status::not_present);
    EXPECT_EQ(sim.status(cache + std::string(".hit_latency_cycles")), Status::not_present);
  }
  EXPECT_EQ(sim.status("cache.texture_l1.tile_bytes"), Status::not_present);
}

TEST(CacheLevelsPathTest, a_level_behind_one_of_unknown_size_is_not_resolvable) {
  JobOnSim sim("gtx280");

  sim.run("cache.constant_l2");

  EXPECT_EQ(sim.status("cache.constant_l2.size_bytes"), Status::not_resolvable);
  EXPECT_EQ(sim.status("cache.constant_l2.sets"), Status::not_resolvable);
  EXPECT_NEAR(sim.number("cache.constant_l2.hit_latency_cycles"), 81, 2);
}

TEST(CacheLevelsPathTest, a_cache_that_loses_lines_of_every_footprint_has_no_size) {
  JobOnSim sim("gtx280");

  sim.run_part("cache.texture_l1", [](JobRun& run) {
    const CacheGeometry geometry{.bound = {0, 8192},
                                 .gradual = true,
                                 .part_range = {0, 8192},
                                 .first_miss_range = {0, 8192},
                                 .line_bytes = 32,
                                 .fetch = {.bytes = 32, .agreement = 1, .observations = 16},
                                 .line_contrast = 1};
    report_geometry({.run = run, .name = "cache.texture_l1", .chase = {}}, geometry, {});
  });

  EXPECT_EQ(sim.status("cache.texture_l1.size_bytes"), Status::not_resolvable);
  EXPECT_EQ(sim.status("cache.texture_l1.first_miss_bytes"), Status::not_resolvable);
  EXPECT_EQ(sim.number("cache.texture_l1.line_bytes"), 32) << "known all the same";
}

TEST(CacheLevelsPathTest, a_line_that_hardly_anything_tells_is_not_resolvable) {
  JobOnSim sim("gtx280");
  static const auto report = [](JobRun& run, const std::string& cache, double line_contrast,
                                bool line_proven) {
    const CacheGeometry geometry{.bound = {4096, 4352},
                                 .line_bytes = 256,
                                 .fetch = {.bytes = 256, .agreement = 1, .observations = 16},
                                 .line_contrast = line_contrast,
                                 .line_proven = line_proven};
    report_geometry({.run = run, .name = cache, .chase = {}}, geometry, {});
  };

  sim.run_part("cache.texture_l1",
               [](JobRun& run) { report(run, "cache.texture_l1", 0.2, false); });
  sim.run_part("cache.texture_l2",
               [](JobRun& run) { report(run, "cache.texture_l2", 0.5, false); });
  sim.run_part("cache.constant_l1",
               [](JobRun& run) { report(run, "cache.constant_l1", 0.2, true); });

  EXPECT_EQ(sim.status("cache.texture_l1.line_bytes"), Status::not_resolvable);
  EXPECT_THAT(sim.find("cache.texture_l1.line_bytes").reason, testing::HasSubstr("256 B"));
  EXPECT_EQ(sim.number("cache.texture_l1.size_bytes"), 4096) << "known all the same";
  EXPECT_EQ(sim.number("cache.texture_l2.line_bytes"), 256);
  EXPECT_EQ(sim.find("cache.texture_l2.line_bytes").confidence, 0.5);
  EXPECT_EQ(sim.number("cache.constant_l1.line_bytes"), 256) << "sets were found with it";
}

}  // namespace
}  // namespace sonde::test
