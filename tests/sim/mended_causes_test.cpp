// Families of drawn GPUs on which the inference was once wrong with confidence 1: none of what they
// declare about it may be contradicted now.
#include "sim/random_gpu_score.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace sonde::test {
namespace {

struct Cause {
  std::string name;
  std::vector<std::uint64_t> seeds;
  std::vector<std::string> jobs;
  std::string metrics;  // what their names begin with
};

void PrintTo(const Cause& cause, std::ostream* out) { *out << cause.name; }

const std::vector<Cause>& causes() {
  static const std::vector<Cause> all{
      {"l2_of_two_partitions_without_copies", {107, 117, 123}, {"cache.l2"}, "cache.l2.far_hit"},
      {"near_hits_are_no_cache_before_the_l2",
       {4, 123},
       {"cache.l2", "cache.l1", "cache.l1_5", "cache.texture_l1", "cache.texture_l2"},
       "cache.l1_5"},
      {"slow_translations_are_no_cache",
       {120, 126},
       {"cache.l2", "cache.l1", "cache.l1_5"},
       "cache.l1_5"},
      {"constants_as_slow_as_the_l2",
       {105, 127, 128},
       {"cache.l2", "cache.constant_l1", "cache.constant_l2", "cache.constant_l3"},
       "cache.constant_l3"},
      {"fetch_behind_a_full_cache",
       {112, 118},
       {"cache.l2", "cache.constant_l1", "cache.constant_l2", "cache.constant_l3"},
       "cache.constant"},
      {"page_chases_beside_few_long_lines",
       {104, 107, 124},
       {"cache.l2", "cache.l1", "tlb"},
       "tlb."},
      {"loads_past_the_l1_meet_a_cache", {116}, {"cache.l2", "cache.l1", "tlb"}, "tlb."},
      {"hits_without_translation",
       {109, 122},
       {"cache.l2", "cache.l1", "tlb", "latency"},
       "latency."},
      {"an_l2_before_a_cache_of_the_memory_is_no_l1", {304}, {"cache.l2", "cache.l1"}, "cache.l1."},
      {"homes_by_page_leave_the_size_of_the_l2_open", {98, 308}, {"cache.l2"}, "cache.l2."},
      {"sets_that_fill_unevenly", {211, 217}, {"cache.l2", "cache.l1", "cache.readonly"}, "cache."},
      {"a_lasting_search_for_sets_ends", {305}, {"cache.l2", "cache.l3"}, "cache.l3.sets"},
      {"page_tables_are_no_tlb", {115}, {"cache.l2", "cache.l1", "tlb"}, "tlb.l3"},
      {"slow_translations_are_no_partition",
       {216, 223},
       {"cache.l2", "cache.l1", "tlb", "latency"},
       "latency."},
      {"window_switches_are_no_p5", {118}, {"cache.l2", "cache.l1", "tlb", "latency"}, "latency."},
  };
  return all;
}

class MendedCausesTest : public testing::TestWithParam<Cause> {};

TEST_P(MendedCausesTest, contradicts_nothing_that_is_known) {
  const ScoreOptions options{.jobs = select_jobs(SuiteLevel::standard, GetParam().jobs)};
  for (const std::uint64_t seed : GetParam().seeds) {
    const GpuScore score = score_gpu({.seed = seed}, options);
    EXPECT_TRUE(score.lost_jobs.empty());
    std::size_t judged = 0;
    for (const ScoredValue& value : score.values) {
      if (!value.metric.starts_with(GetParam().metrics)) continue;
      ++judged;
      EXPECT_NE(value.verdict, Verdict::wrong) << value.line;
    }
    EXPECT_GT(judged, 0u) << GetParam().metrics << " of seed " << seed;
  }
}

/// Their L2s protect lines that are asked for again and again: constants stay there under data.
TEST(MendedWrittenTest, constants_kept_by_the_l2_lie_in_no_cache_of_their_own) {
  const std::vector<std::string> jobs{"cache.l2", "cache.constant_l1", "cache.constant_l2"};
  const ScoreOptions options{.jobs = select_jobs(SuiteLevel::standard, jobs)};
  const std::filesystem::path folder = SONDE_WRITTEN_FOLDER;
  for (const std::string name : {"12-middle-cache-step-4", "14-unequal-floor-swept"}) {
    const GpuScore score = score_gpu(
        {.model = folder / (name + ".json"), .truths = folder / (name + ".truth.json")}, options);
    std::size_t judged = 0;
    for (const ScoredValue& value : score.values) {
      if (!value.metric.starts_with("cache.constant_l2")) continue;
      ++judged;
      EXPECT_NE(value.verdict, Verdict::wrong) << value.line;
    }
    EXPECT_GT(judged, 0u) << name;
  }
}

INSTANTIATE_TEST_SUITE_P(All, MendedCausesTest, testing::ValuesIn(causes()),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace sonde::test
