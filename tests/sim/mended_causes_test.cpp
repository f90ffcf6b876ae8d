// Families of drawn GPUs on which the inference was once wrong with confidence 1: none of what they
// declare about it may be contradicted now.
#include "sim/mended_causes.hpp"
#include "analysis/statistics.hpp"
#include "base/units.hpp"
#include "jobs/cache/l2_partitions.hpp"
#include "jobs/cache/path_survey.hpp"
#include "jobs/latency/parts.hpp"
#include "sim/job_on_sim.hpp"
#include "sim/random_gpu_score.hpp"
#include "support/random_gpu.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cstdlib>
#include <fstream>
#include <ostream>

namespace sonde::test {

void PrintTo(const Cause& cause, std::ostream* out) { *out << cause.name; }

namespace {

std::vector<Cause> all_causes() {
  std::vector<Cause> all = causes_of_caches();
  for (const auto& more : {causes_of_code_and_constants(), causes_of_tlbs_and_latencies()})
    all.insert(all.end(), more.begin(), more.end());
  return all;
}

class MendedCausesTest : public testing::TestWithParam<Cause> {};

TEST_P(MendedCausesTest, contradicts_nothing_that_is_known) {
  if (GetParam().is_long && std::getenv("SONDE_ALL_SEEDS") == nullptr) {
    GTEST_SKIP() << "set SONDE_ALL_SEEDS to run it";
  }
  const ScoreOptions options{.jobs = select_jobs(SuiteLevel::standard, GetParam().jobs)};
  for (const std::uint64_t seed : GetParam().seeds) {
    const GpuScore score = score_gpu({.seed = seed}, options);
    EXPECT_TRUE(score.lost_jobs.empty());
    std::size_t judged = 0;
    for (const ScoredValue& value : score.values) {
      if (!value.metric.starts_with(GetParam().metrics)) continue;
      ++judged;
      EXPECT_NE(value.verdict, Verdict::wrong) << value.line;
      if (GetParam().are_found) {
        EXPECT_EQ(value.verdict, Verdict::right) << value.line;
      }
    }
    EXPECT_GT(judged, 0u) << GetParam().metrics << " of seed " << seed;
  }
}

/// Of what the written GPUs declare about metrics with this prefix nothing may be contradicted.
/// @param names below tests/sim
void expect_none_wrong(const std::vector<std::string>& names, const std::vector<std::string>& jobs,
                       const std::string& prefix) {
  const ScoreOptions options{.jobs = select_jobs(SuiteLevel::standard, jobs)};
  const std::filesystem::path folder = SONDE_WRITTEN_FOLDER;
  for (const std::string& name : names) {
    const GpuScore score = score_gpu(
        {.model = folder / (name + ".json"), .truths = folder / (name + ".truth.json")}, options);
    std::size_t judged = 0;
    for (const ScoredValue& value : score.values) {
      if (!value.metric.starts_with(prefix)) continue;
      ++judged;
      EXPECT_NE(value.verdict, Verdict::wrong) << value.line;
    }
    EXPECT_GT(judged, 0u) << name;
  }
}

/// Their L2s protect lines that are asked for again and again: constants stay there under data.
TEST(MendedWrittenTest, constants_kept_by_the_l2_lie_in_no_cache_of_their_own) {
  std::vector<std::string> names{"written-second/14-unequal-floor-swept"};
  if (std::getenv("SONDE_ALL_SEEDS") != nullptr)  // three minutes
    names.push_back("written-second/12-middle-cache-step-4");
  expect_none_wrong(names, {"cache.l2", "cache.constant_l1", "cache.constant_l2"},
                    "cache.constant_l2");
}

/// Pages of two sizes, and a cache that takes the victims of another: misses cost one of two
/// latencies without any partition.
TEST(MendedWrittenTest, misses_cost_what_the_next_level_takes) {
  expect_none_wrong({"written-third/18-patchwork", "written-third/19-exile"}, {"cache.l1"},
                    "cache.l1.miss");
  expect_none_wrong({"written-third/18-patchwork"}, {"cache.l2"}, "cache.l2.miss");
}

/// Each partition is the home of whole pages: atomics to one page take one time.
TEST(MendedWrittenTest, atomics_to_several_pages_show_their_homes) {
  const std::filesystem::path folder = SONDE_WRITTEN_FOLDER;
  JobOnSim sim((folder / "written-third/24-twofold.json").string());

  sim.run_part("cache.l2", report_l2_partitions);

  EXPECT_NEAR(sim.number("cache.l2.atomic_near_cycles"), 316, 4);
  EXPECT_NEAR(sim.number("cache.l2.atomic_far_cycles"), 476, 5);
  EXPECT_EQ(sim.status("cache.l2.home_function"), Status::not_resolvable);
}

/// Lines of 96 bytes: of each block of 128 another one is met, as if blocks were lines.
TEST(MendedWrittenTest, blocks_that_lose_parts_of_them_are_no_lines) {
  const std::filesystem::path folder = SONDE_WRITTEN_FOLDER;
  JobOnSim sim((folder / "written-third/26-oddline.json").string());

  sim.run("cache.readonly");

  EXPECT_EQ(sim.status("cache.readonly.line_bytes"), Status::not_resolvable);
  EXPECT_EQ(sim.status("cache.readonly.sets"), Status::not_resolvable);
  EXPECT_EQ(sim.number("cache.readonly.size_bytes"), 128 * 96);
}

/// Pages of two sizes: 96 KiB are more small ones than the first TLB has entries.
TEST(MendedWrittenTest, most_hits_of_the_l2_have_their_translation_at_hand) {
  const std::filesystem::path folder = SONDE_WRITTEN_FOLDER;
  JobOnSim sim((folder / "written-third/18-patchwork.json").string());
  sim.assume("cache.l1.size_bytes", 24576.0);
  sim.assume("cache.l2.hit_latency_cycles", 218.0);

  sim.run_part("latency", report_level_latencies);

  EXPECT_NEAR(sim.number("latency.cg.l2_cycles"), 218, 2.2);
  EXPECT_NEAR(sim.number("latency.ca.l2_cycles"), 226, 2.3);
}

/// A clock in steps of eight cycles: windows lie on both sides of what they take.
TEST(MendedWrittenTest, conflicts_are_averaged_over_steps_of_the_clock) {
  const std::filesystem::path folder = SONDE_WRITTEN_FOLDER;
  JobOnSim sim((folder / "written-third/22-blur.json").string());
  sim.run("clock");

  sim.run("shared");

  EXPECT_NEAR(sim.number("shared.conflict_cycles.2"), 44, 1);
  EXPECT_NEAR(sim.number("shared.conflict_cycles.8"), 68, 1);
  EXPECT_NEAR(sim.number("shared.conflict_cycles.32"), 164, 1);
}

/// Of BRRIP a cache of code keeps some lines of every footprint, most of none: no class of
/// latencies serves half of a chase there.
TEST(MendedWrittenTest, code_that_a_cache_keeps_in_passing_shows_that_cache) {
  static std::vector<double> hit_cycles;
  const std::filesystem::path folder = SONDE_WRITTEN_FOLDER;
  JobOnSim sim((folder / "written-third/23-tagalong.json").string());
  sim.assume("cache.l2.hit_latency_cycles", 218.0);

  sim.run_part("cache.instruction", [](JobRun& run) {
    const PathSurvey survey = survey_path(run, {.path = LoadPath::instruction,
                                                .caches = {"l0", "l1", "l2", "l3"},
                                                .space_bytes = 512_KiB,
                                                .survey_bytes = 512_KiB});
    for (const LatencyClass& found : survey.caches) hit_cycles.push_back(median(found.cycles));
  });

  EXPECT_THAT(hit_cycles, testing::Pointwise(testing::DoubleNear(6), {36, 66, 144}));
}

/// A texture cache of 384 KiB beside a TLB of 44 KiB: its hits take 49 cycles with their
/// translation at hand and 190 without, the L2 268.
TEST(SlowTranslationsTest, of_hits_are_no_second_cache) {
  nlohmann::json model = nlohmann::json::parse(draw_gpu(119));
  model["pages"]["page_bytes"] = 4096;
  model["pages"].erase("window_bytes");
  nlohmann::json& tlb = model["pages"]["tlbs"][0];
  tlb["entry_bytes"] = 4096;
  tlb["sub_entries"] = 1;
  tlb["replacement"] = "lru";
  for (nlohmann::json& cache : model["caches"]) {
    if (cache["name"] == "readonly") {
      cache["sets"] = 256;
      cache["replacement"] = "lru";
      cache["index"] = {{"kind", "bit_field"}, {"low_bit", 7}, {"bits", 8}};
    }
  }
  for (auto& [name, path] : model["paths"].items())
    for (auto& [level, cycles] : path["latency_cycles"].items())
      if (cycles.is_object()) cycles.erase("window_switch");
  const std::string path = testing::TempDir() + "/slow_translations.json";
  std::ofstream(path) << model;
  JobOnSim sim(path, 119);
  sim.run("cache.l2");
  sim.run("cache.texture_l1");

  sim.run("cache.texture_l2");

  EXPECT_EQ(sim.number("cache.texture_l1.size_bytes"), 256 * 12 * 128);
  EXPECT_EQ(sim.status("cache.texture_l2.size_bytes"), Status::not_present);
}

/// 16384 sets behind an L2: each question of the search goes through most of that.
TEST(LastingSearchTest, for_sets_of_a_cache_ends_with_a_reason) {
  if (std::getenv("SONDE_ALL_SEEDS") == nullptr) GTEST_SKIP() << "set SONDE_ALL_SEEDS to run it";
  const std::string path = testing::TempDir() + "/lasting_search.json";
  std::ofstream(path) << draw_gpu(305);
  JobOnSim sim(path, 305);
  sim.run("cache.l2");

  sim.run("cache.l3");

  EXPECT_EQ(sim.status("cache.l3.sets"), Status::not_resolvable);
  EXPECT_THAT(sim.find("cache.l3.sets").reason, testing::HasSubstr("at work on it for too long"));
}

INSTANTIATE_TEST_SUITE_P(All, MendedCausesTest, testing::ValuesIn(all_causes()),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace sonde::test
