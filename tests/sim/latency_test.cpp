// The job latency gives back the declared latencies of every shipped model: levels by path, and
// Mei and Chu's patterns.
#include "sim/hierarchy_truth.hpp"
#include "sim/shipped_json.hpp"

#include <fstream>
#include <optional>

namespace sonde::test {
namespace {

/// Declared latencies of the patterns on a path; unset where the device has no such pattern.
struct DeclaredPatterns {
  std::array<std::optional<double>, 6> cycles;
};

DeclaredPatterns declared_patterns(const sim::Model& model, LoadPath path) {
  const sim::PathModel& declared = *path_of(model, path);
  const sim::PageModel& pages = model.pages;
  const std::size_t walk_cached = pages.tlbs.size();
  const std::size_t walk_cold = walk_cached + 1;
  DeclaredPatterns patterns;
  if (!declared.caches.empty()) {
    const sim::LatencyRow& hit = declared.hit.front();
    patterns.cycles[0] = hit[0];
    if (hit[walk_cached] > hit[0]) {
      patterns.cycles[1] = hit[1];
      patterns.cycles[2] = hit[walk_cached];
    }
  }
  // Of a divided memory the middle of both partitions.
  const sim::LatencyRow& near = declared.dram;
  const sim::LatencyRow& far = declared.dram_far.empty() ? near : declared.dram_far;
  const auto middle = [&](std::size_t walk) { return (near[walk] + far[walk]) / 2.0; };
  patterns.cycles[3] = middle(0);
  if (near[walk_cold] > near[0]) patterns.cycles[4] = middle(walk_cold);
  if (pages.window_bytes > 0) patterns.cycles[5] = middle(walk_cold + 1);
  return patterns;
}

class LatencyTest : public ShippedModelTest {
 protected:
  void SetUp() override {
    assume_hierarchy(sim_);
    sim_.run("latency", seed() == 1 ? SuiteLevel::standard : SuiteLevel::quick);
  }

  /// SM 0 lies above the declared latency of whatever the last cache of the path or the memory
  /// serves; the first cache of a path with two is its own.
  double offset_cycles(LoadPath path, bool served_by_first) const {
    const bool own = served_by_first && first_cache(sim_.truth(), path) != nullptr;
    return own ? 0 : sm_offset_cycles(sim_.truth(), seed(), path);
  }

  void expect_near(const std::string& metric, double expected_cycles) {
    EXPECT_NEAR(sim_.number(metric), expected_cycles,
                tolerance_cycles(sim_.truth(), expected_cycles))
        << metric;
  }
};

TEST_P(LatencyTest, gives_back_the_patterns) {
  for (const auto& [path, prefix] :
       {std::pair{LoadPath::all_levels, "latency."}, std::pair{LoadPath::past_l1, "latency.cg."}}) {
    const DeclaredPatterns declared = declared_patterns(sim_.truth(), path);
    for (std::size_t i = 0; i < declared.cycles.size(); ++i) {
      const std::string metric = std::string(prefix) + "p" + std::to_string(i + 1) + "_cycles";
      if (declared.cycles[i]) {
        expect_near(metric, *declared.cycles[i] + offset_cycles(path, i < 3));
      } else {
        EXPECT_EQ(sim_.status(metric), Status::not_present) << metric;
      }
    }
  }
}

TEST_P(LatencyTest, gives_back_the_levels_of_each_path) {
  for (LoadPath path :
       {LoadPath::all_levels, LoadPath::past_l1, LoadPath::read_only, LoadPath::uncached}) {
    const std::string prefix = "latency." + std::string(to_text(path));
    const sim::PathModel* declared = path_of(sim_.truth(), path);
    if (declared == nullptr) {
      EXPECT_EQ(sim_.status(prefix + ".dram_cycles"), Status::not_present);
      continue;
    }
    const double offset = offset_cycles(path, false);
    if (first_cache(sim_.truth(), path) != nullptr) {
      expect_near(prefix + ".l1_cycles", declared->hit.front().front());
    } else if (path == LoadPath::all_levels || path == LoadPath::read_only) {
      EXPECT_EQ(sim_.status(prefix + ".l1_cycles"), Status::not_present);
    }
    if (declared->caches.empty()) {
      EXPECT_EQ(sim_.status(prefix + ".l2_cycles"), Status::not_present);
    } else {
      expect_near(prefix + ".l2_cycles", declared->hit.back().front() + offset);
    }
    const bool divided = !declared->dram_far.empty();
    const double near = declared->dram.front();
    const double far = divided ? declared->dram_far.front() : near;
    expect_near(prefix + ".dram_cycles", (near + far) / 2 + offset);
  }
}

TEST_P(LatencyTest, staircase_rises_from_the_first_level_to_the_memory) {
  const std::vector<double> bytes = sim_.vector("latency.staircase_bytes");
  const std::vector<double> cycles = sim_.vector("latency.staircase_cycles");
  ASSERT_EQ(bytes.size(), cycles.size());
  ASSERT_GE(bytes.size(), 16U);
  const sim::PathModel& ca = *path_of(sim_.truth(), LoadPath::all_levels);

  const sim::LatencyRow& first = ca.caches.empty() ? ca.dram : ca.hit.front();
  EXPECT_NEAR(cycles.front(), first.front(), 20);
  if (!ca.caches.empty()) {
    // Twice the L2: lines that its replacement keeps by chance are hits still.
    const double l2 = ca.hit.back().front();
    EXPECT_GT(cycles.back(), l2 + (ca.dram.front() - l2) / 4);
  }
}

INSTANTIATE_TEST_SUITE_P(Shipped, LatencyTest, all_models_and_seeds(), name_case);

TEST(LatencyPartitionsTest, hopper_memory_has_two) {
  JobOnSim sim("h200");
  assume_hierarchy(sim);
  sim.run("latency", SuiteLevel::quick);

  const double offset = sm_offset_cycles(sim.truth(), 1, LoadPath::past_l1);
  const sim::PathModel& cg = *path_of(sim.truth(), LoadPath::past_l1);
  EXPECT_NEAR(sim.number("latency.dram_near_cycles"), cg.dram.front() + offset, 10);
  EXPECT_NEAR(sim.number("latency.dram_far_cycles"), cg.dram_far.front() + offset, 10);
}

/// An L2 of two partitions that keep no copies of each other's lines, and whole pages at home in
/// one of them: hits of a page are all near or all far.
TEST(LatencyPartitionsTest, without_copies_near_hits_are_no_first_level) {
  nlohmann::json model = test::json_of("h200");
  model["partitions"] = {{"home_mask", "0x1E00000"}};
  const std::string path = testing::TempDir() + "partitions_without_copies.json";
  std::ofstream(path) << model.dump();
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    JobOnSim sim(path, seed);
    assume_hierarchy(sim);
    ASSERT_NO_THROW(sim.run("latency", SuiteLevel::quick)) << seed;
    EXPECT_NEAR(sim.number("latency.ca.l1_cycles"), sim.number("latency.l1_cycles"), 0.5);
  }
}

TEST(LatencyWrongSizesTest, a_small_l2_that_another_job_believes_in_costs_no_job) {
  JobOnSim sim("gtx980");
  sim.assume("clock.window_cycles", 20.0);
  sim.assume("cache.l1.size_bytes", 24576.0);
  sim.assume("cache.l2.first_miss_bytes", 6144.0);
  ASSERT_NO_THROW(sim.run("latency", SuiteLevel::quick));
  EXPECT_GT(sim.number("latency.l1_cycles"), 0);
}

}  // namespace
}  // namespace sonde::test
