// Families of drawn GPUs on which the inference was once wrong with confidence 1: none of what they
// declare about it may be contradicted now.
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
#include <set>

namespace sonde::test {
namespace {

struct Cause {
  std::string name;
  std::vector<std::uint64_t> seeds;
  std::vector<std::string> jobs;
  std::string metrics;     // what their names begin with
  bool are_found = false;  // and not only left open
};

void PrintTo(const Cause& cause, std::ostream* out) { *out << cause.name; }

const std::vector<Cause>& causes() {
  static const std::vector<Cause> all{
      {"l2_of_two_partitions_without_copies", {107, 117, 123}, {"cache.l2"}, "cache.l2.far_hit"},
      {"near_hits_are_no_cache_before_the_l2",
       {123},
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
      {"page_chases_beside_few_long_lines", {107}, {"cache.l2", "cache.l1", "tlb"}, "tlb."},
      {"loads_past_the_l1_meet_a_cache", {116}, {"cache.l2", "cache.l1", "tlb"}, "tlb."},
      {"hits_without_translation",
       {109, 122},
       {"cache.l2", "cache.l1", "tlb", "latency"},
       "latency."},
      {"an_l2_before_a_cache_of_the_memory_is_no_l1", {304}, {"cache.l2", "cache.l1"}, "cache.l1."},
      {"homes_by_page_leave_the_size_of_the_l2_open", {98, 308}, {"cache.l2"}, "cache.l2."},
      {"sets_that_fill_unevenly",
       {211, 315},
       {"cache.l2", "cache.l1", "cache.readonly"},
       "cache.l1.size",
       true},
      {"sets_that_fill_late", {325}, {"cache.l2"}, "cache.l2.size", true},
      {"lines_that_do_not_leave_in_order", {206}, {"cache.l1"}, "cache.l1.size"},
      {"page_tables_are_no_tlb", {115}, {"cache.l2", "cache.l1", "tlb"}, "tlb.l3"},
      {"slow_translations_are_no_partition",
       {223},
       {"cache.l2", "cache.l1", "tlb", "latency"},
       "latency."},
      {"a_cache_of_the_memory_behind_an_l2_that_loses_lines_gradually",
       {704},
       {"cache.l2", "cache.l3"},
       "cache.l3."},
      {"a_cache_of_the_memory_is_no_far_partition", {712}, {"cache.l2"}, "cache.l2."},
      {"a_memory_without_partitions_has_no_far_part",
       {712},
       {"cache.l2", "cache.l1", "latency"},
       "latency.dram"},
      {"copies_hide_homes_by_page", {705, 711}, {"cache.l2", "cache.l3"}, "cache.l"},
      {"lines_of_an_l2_that_does_not_evict_in_order", {206}, {"cache.l2"}, "cache.l2.line", true},
      {"sets_that_fill_very_late", {319}, {"cache.l2"}, "cache.l2.size", true},
      {"slices_that_fill_very_late", {702}, {"cache.l2"}, "cache.l2.size"},
      {"sets_that_fill_late_and_do_not_evict_in_order", {114, 229}, {"cache.l2"}, "cache.l2.size"},
      {"lines_shorter_than_what_the_l2_asks_for", {808}, {"cache.l2", "cache.l3"}, "cache.l3."},
      // Wrong, or not one level of them seen, before.
      {"pages_that_an_l2_of_any_policy_keeps",
       {701, 704},
       {"cache.l2", "cache.l1", "tlb"},
       "tlb.l2.e",
       true},
      {"unequal_victims_of_pages_from_the_memory",
       {711},
       {"cache.l2", "cache.l1", "tlb"},
       "tlb.l2.e"},
      {"entries_as_large_as_windows", {705}, {"cache.l2", "cache.l1", "tlb"}, "tlb."},
      {"clocks_in_steps_of_four", {710, 812}, {"cache.l2", "cache.l1", "tlb"}, "tlb."},
      {"evictors_beyond_the_l2", {708}, {"cache.l2", "cache.l1", "tlb"}, "tlb.l2."},
      {"entries_of_brrip_of_many_pages", {811}, {"cache.l2", "cache.l1", "tlb"}, "tlb.l2.e", true},
      {"entries_asked_for_by_every_second_one", {851}, {"cache.l2", "cache.l1", "tlb"}, "tlb.l2"},
      {"sets_of_more_than_the_level_holds", {815, 861}, {"cache.l2", "cache.l1", "tlb"}, "tlb.l2"},
      {"page_directories_are_no_third_level",
       {705, 802},
       {"cache.l2", "cache.l1", "tlb"},
       "tlb.l3"},
      {"misses_of_the_l2_that_wait_for_translations",
       {13137341, 13137358},
       {"cache.l2", "sharing"},
       "sharing.l2",
       true},
      {"a_cache_of_some_sms_is_not_the_l2", {909}, {"cache.l1", "cache.l2"}, "cache.l2.hit"},
      {"partitions_may_be_caches_of_code",
       {13137356},
       {"cache.l2", "cache.instruction"},
       "cache.instruction_l3"},
      {"the_memory_side_is_not_the_l2_of_code",
       {836},
       {"cache.l2", "cache.l3", "cache.instruction"},
       "cache.instruction"},
      {"noise_joins_no_caches_of_constants",
       {838},
       {"cache.l2", "cache.constant_l1", "cache.constant_l2"},
       "cache.constant"},
      {"caches_of_constants_that_keep_most_of_the_bank",
       {835},
       {"cache.l2", "cache.constant_l1", "cache.constant_l2", "cache.instruction", "sharing"},
       "sharing.constant_l2_code"},
      {"a_small_l2_is_not_the_memory_to_a_first_cache",
       {824},
       {"cache.l2", "cache.l1", "cache.readonly", "sharing"},
       "sharing.readonly.s",
       true},
      // Not found before.
      {"a_first_cache_that_keeps_as_many_long_lines_as_the_next",
       {199400724},
       {"cache.l1"},
       "cache.l1.",
       true},
      {"the_near_partition_is_no_first_cache", {199400750}, {"cache.l1"}, "cache.l1.", true},
      {"partitions_whose_homes_and_sets_go_by_the_same_bits",
       {199400714, 199400750},
       {"cache.l2"},
       "cache.l2.size",
       true},
      {"copies_of_lines_whose_homes_go_by_page",
       {199400705, 199400755},
       {"cache.l2"},
       "cache.l2.size",
       true},
      {"sets_that_no_small_footprint_fills",
       {199400741, 199400757},
       {"cache.texture_l1"},
       "cache.texture_l1.size",
       true},
      {"a_cache_before_the_l2_has_no_l3_behind_it", {199400713}, {"cache.l3"}, "cache.l3.", true},
      {"sets_of_fewer_lines_than_stay",
       {199400720, 199400724},
       {"cache.readonly"},
       "cache.readonly."},
      {"sets_too_many_to_be_found_one_by_one", {199400723}, {"cache.l2"}, "cache.l2.repl", true},
      {"sets_of_which_the_pool_has_too_few_lines", {199400776}, {"cache.l2"}, "cache.l2.sets"},
      {"one_way_may_be_chosen_at_random", {199400707}, {"cache.readonly"}, "cache.readonly.way_p"},
      {"trees_of_thirteen_ways", {199400740}, {"cache.readonly"}, "cache.readonly."},
      {"lines_that_their_sets_contradict", {592730950}, {"cache.l2"}, "cache.l2.", true},
      {"pages_that_overflow_a_tlb_are_no_lines", {592730944}, {"cache.l2"}, "cache.l2.", true},
      {"pages_that_a_level_kept_between_others",
       {592730946},
       {"cache.l2", "cache.l1", "tlb"},
       "tlb.l2.",
       true},
      {"outliers_of_two_accesses_in_a_thousand",
       {199400713, 199400761},
       {"cache.l2"},
       "cache.l2.s",
       true},
      {"more_short_lines_than_a_sparse_chase_loads", {199400752}, {"cache.l1"}, "cache.l1.s", true},
      {"sets_of_few_ways_behind_an_inner_level",
       {13137349, 13137358, 13137365},
       {"cache.constant_l1", "cache.constant_l2"},
       "cache.constant_l2.s",
       true},
      {"sets_behind_random_replacement",
       {13137331},
       {"cache.l2", "cache.texture_l1", "cache.texture_l2"},
       "cache.texture_l2.s",
       true},
      {"sets_of_code_of_few_ways_behind_other_caches",
       {13137328, 13137358},
       {"cache.instruction"},
       "cache.instruction_l1.ways",
       true},
      {"sets_that_look_larger_than_they_are",
       {13137327, 13137368},
       {"cache.l2", "cache.l1", "tlb"},
       "tlb.l2.w"},
      {"levels_that_were_not_found_are_not_absent",
       {13137328, 13137347},
       {"cache.l2", "cache.l1", "tlb", "latency"},
       "latency.cg.p"},
      {"lines_of_pages_that_a_cache_lost_are_no_p3",
       {13137337, 13137353},
       {"cache.l2", "cache.l1", "tlb", "latency"},
       "latency."},
      {"lines_lost_at_one_span_are_no_level",
       {13137333},
       {"cache.l2", "cache.l1", "tlb"},
       "tlb.",
       true},
      {"levels_larger_than_the_l2_has_lines", {13137331}, {"cache.l2", "cache.l1", "tlb"}, "tlb."},
      {"caches_of_page_tables_behind_a_level_that_answers",
       {13137351, 13137412},
       {"cache.l2", "cache.l1", "tlb"},
       "tlb.l3"},
      {"entries_of_random_levels_of_many_pages",
       {13137355},
       {"cache.l2", "cache.l1", "tlb"},
       "tlb.l2"},
      // Steps of 256 KiB met them where the level before overflowed, too.
      {"few_large_entries_behind_many_small_ones",
       {13137365, 13137367},
       {"cache.l2", "cache.l1", "tlb"},
       "tlb.l2.e",
       true},
      {"pages_of_two_sizes",
       {13137370, 13137404, 13137409},
       {"cache.l2", "cache.l1", "tlb"},
       "tlb.l"},
      {"textures_that_hit_without_translation_have_no_tlb_of_their_own",
       {13137392},
       {"cache.l2", "cache.l1", "cache.texture_l1", "cache.texture_l2", "tlb"},
       "tlb.texture"},
      {"texture_tlbs_behind_texture_caches",
       {13137340, 13137341, 13137346},
       {"cache.l2", "cache.l1", "cache.texture_l1", "cache.texture_l2", "tlb"},
       "tlb.texture"},
      {"sets_of_random_victims_that_no_policy_explains",
       {709},
       {"cache.l2", "cache.l1", "tlb"},
       "tlb.l1"},
      {"first_and_last_lines_of_blocks_share_sets",
       {13137350, 13137358},
       {"cache.instruction"},
       "cache.instruction_l0.index",
       true},
      {"lines_of_blocks_share_sets_behind_another_cache",
       {13137331, 13137338},
       {"cache.instruction"},
       "cache.instruction_l1.index",
       true},
      {"outliers_in_lists_of_many_ways",
       {13137403},
       {"cache.l2", "cache.l1", "cache.readonly"},
       "cache.readonly.ways",
       true},
      {"footprints_of_which_none_fits",
       {645160788},
       {"cache.instruction"},
       "cache.instruction_l1.l"},
      // Not found, or nothing said of what lies behind them, before.
      {"levels_of_more_entries_than_the_l2_has_lines",
       {645160887},
       {"cache.l2", "cache.l1", "tlb"},
       "tlb.l2.",
       true},
      {"hits_that_miss_the_last_level_beside_a_small_l2",
       {645160842},
       {"cache.l2", "cache.l1", "tlb", "latency"},
       "latency.cg.p3",
       true},
      {"pages_as_far_as_lines_of_another_partition",
       {645160859},
       {"cache.l2", "cache.l1", "tlb"},
       "tlb.l2.e",
       true},
      {"one_sm_that_keeps_its_entries_beside_another",
       {645160819},
       {"cache.l2", "cache.l1", "tlb"},
       "tlb.l1.scope",
       true},
      {"pages_under_one_unknown_entry_are_no_p5",
       {645160822},
       {"cache.l2", "cache.l1", "tlb", "latency"},
       "latency."},
      // Trees of 10 ways, which lose lines of sets with free ways in some orders of accesses.
      {"sets_of_trees_of_any_number_of_ways",
       {645160825},
       {"cache.instruction"},
       "cache.instruction_l0.s",
       true},
      {"members_that_hide_in_company",
       {645160805},
       {"cache.constant_l1", "cache.constant_l2"},
       "cache.constant_l2.s",
       true},
      {"a_few_sets_that_look_smaller",
       {645160880},
       {"cache.instruction"},
       "cache.instruction_l1.ways",
       true},
      {"lines_of_a_cache_behind_one_that_kept_them",
       {645160796},
       {"cache.instruction"},
       "cache.instruction_l1.size",
       true},
      {"last_lines_tell_the_size_that_footprints_leave_open",
       {645160806},
       {"cache.instruction"},
       "cache.instruction_l1.s",
       true},
      // Evictors were executed from their last fetch on when policies were looked at, and did not
      // evict.
      {"policies_of_code_behind_other_caches",
       {199400757},
       {"cache.instruction"},
       "cache.instruction_l1.re",
       true},
      {"last_lines_behind_a_cache_of_half_as_many",
       {199400769},
       {"cache.instruction"},
       "cache.instruction_l2.s",
       true},
      {"slow_translations_beside_a_small_l2_in_slices",
       {645160833},
       {"cache.l2"},
       "cache.l2.",
       true},
      {"an_l2_of_short_lines_before_a_cache_of_the_memory", {645160883}, {"cache.l2"}, "cache.l2."},
      // 0.76 of what plain loads take from the L2: all of the cache was said to be that.
      {"texture_caches_nearly_as_late_as_the_l2",
       {199400715},
       {"cache.l2", "cache.texture_l1", "cache.texture_l2"},
       "cache.texture_l2.s",
       true},
      {"an_l2_hardly_larger_than_the_first_cache",
       {199400707},
       {"cache.l2", "cache.l1", "cache.readonly", "latency"},
       "latency.ca.l2_cycles",
       true},
      // Medians of a few passes show no random victims: nothing was found, or entries too many.
      {"sets_of_a_tlb_of_random_victims",
       {199400729, 199400770},
       {"cache.l2", "cache.l1", "tlb"},
       "tlb.l2.",
       true},
      {"entries_of_many_pages_are_pushed_out_in_a_row",
       {199400764},
       {"cache.l2", "cache.l1", "tlb"},
       "tlb.l3.e",
       true},
      {"hits_of_two_partitions_that_wait_for_translations",
       {199400761},
       {"cache.l2", "cache.l1", "tlb", "latency"},
       "latency.cg.p",
       true},
      {"first_accesses_to_pages_of_two_sizes",
       {199400706},
       {"cache.l2", "cache.l1", "tlb", "latency"},
       "latency.cg.p",
       true},
      {"caches_of_page_tables_behind_pages_of_two_sizes",
       {199400714},
       {"cache.l2", "cache.l1", "tlb", "latency"},
       "latency.cg.p"},
      {"hits_beyond_a_tlb_of_nearly_as_many_entries_as_the_cache_has_lines",
       {199400754},
       {"cache.l2", "cache.l1", "tlb", "latency"},
       "latency.p",
       true},
      {"window_switches_among_first_accesses",
       {199400727},
       {"cache.l2", "cache.l1", "tlb", "latency"},
       "latency.cg.p5",
       true},
      // Of 48 KiB, and of 80 KiB, before a bank of 64 KiB.
      {"caches_that_constants_cannot_overfill_twice",
       {592730942, 592730955},
       {"cache.l2", "cache.constant_l1", "cache.constant_l2", "cache.constant_l3", "topology",
        "sharing"},
       "sharing.constant_l3.s",
       true},
      // Only how soon it answers was known of such an L2.
      {"an_l2_behind_a_cache_of_some_sms", {199400764}, {"cache.l2"}, "cache.l2.", true},
      {"hits_of_an_l2_behind_a_cache_of_some_sms",
       {199400757},
       {"cache.l2", "cache.l1", "cache.l1_5", "latency"},
       "latency.cg.l2_cycles",
       true},
      {"a_cache_of_the_memory_behind_an_l2_whose_line_is_open",
       {645160895},
       {"cache.l2", "cache.l3"},
       "cache.l3.s",
       true},
      // Their entries and sets were wrong, or said to be a cache of page tables.
      {"neighbours_of_a_place_lie_in_one_entry",
       {504714649},
       {"cache.l2", "cache.l1", "tlb"},
       "tlb.l2.",
       true},
      {"four_misses_at_one_distance_are_no_pages",
       {504714666},
       {"cache.l2", "cache.l1", "tlb"},
       "tlb.l2.e",
       true},
      {"shuffled_blocks_that_switch_between_page_table_windows",
       {504714680, 504714703},
       {"cache.l2", "cache.l1", "tlb"},
       "tlb.l2.e",
       true},
      {"pages_that_an_inner_level_of_brrip_keeps",
       {504714664},
       {"cache.l2", "cache.l1", "tlb"},
       "tlb.l3"},
      // Small pages overflowed the TLB: the L2 was said to answer as late as slow translations let
      // it.
      {"hits_of_the_l2_in_pages_of_two_sizes",
       {504714648},
       {"cache.l1", "cache.l2", "latency"},
       "latency.cg.l2_c",
       true},
      // Behind no first cache: it is the first one, though loads past the L1 meet it, too.
      {"a_cache_of_some_sms_without_another_before_it",
       {448, 508, 970},
       {"cache.l1", "cache.l2", "latency"},
       "latency.ca.l",
       true},
      // They were a cache of the memory, and lines of 1 KiB in place of 32 B.
      {"slow_translations_of_hits_in_pages_of_2_kib",
       {504714734},
       {"cache.l2"},
       "cache.l2.line",
       true},
      // One of two partitions was all of it, and the other a cache of the memory.
      {"an_l2_of_two_partitions_behind_a_cache_of_some_sms",
       {504714654, 504714661},
       {"cache.l2", "cache.l3", "latency"},
       "cache.l"},
      {"the_nearest_of_four_partitions_whose_homes_go_by_page",
       {504714776},
       {"cache.l1", "cache.l2", "cache.l1_5"},
       "cache.l1_5.",
       true},
      {"pages_that_conflict_in_a_tlb_are_no_long_lines",
       {504714720},
       {"cache.l2"},
       "cache.l2.",
       true},
      {"window_switches_are_no_p5", {118}, {"cache.l2", "cache.l1", "tlb", "latency"}, "latency."},
  };
  return all;
}

class MendedCausesTest : public testing::TestWithParam<Cause> {};

/// Of the slowest ones, four minutes together: SONDE_ALL_SEEDS runs them, too.
bool takes_long(const Cause& cause) {
  const std::set<std::string> slow{"sets_of_random_victims_that_no_policy_explains",
                                   "entries_of_random_levels_of_many_pages",
                                   "slow_translations_are_no_partition",
                                   "textures_that_hit_without_translation_have_no_tlb_of_their_own",
                                   "partitions_may_be_caches_of_code",
                                   "caches_of_constants_that_keep_most_of_the_bank",
                                   "a_cache_of_the_memory_behind_an_l2_whose_line_is_open",
                                   "an_l2_behind_a_cache_of_some_sms",
                                   "a_cache_of_some_sms_without_another_before_it",
                                   "the_nearest_of_four_partitions_whose_homes_go_by_page",
                                   "levels_that_were_not_found_are_not_absent",
                                   "lines_shorter_than_what_the_l2_asks_for",
                                   "loads_past_the_l1_meet_a_cache",
                                   "sets_behind_random_replacement",
                                   "sets_that_fill_late_and_do_not_evict_in_order"};
  return slow.contains(cause.name);
}

TEST_P(MendedCausesTest, contradicts_nothing_that_is_known) {
  if (takes_long(GetParam()) && std::getenv("SONDE_ALL_SEEDS") == nullptr) {
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
  const std::string path = testing::TempDir() + "/lasting_search.json";
  std::ofstream(path) << draw_gpu(305);
  JobOnSim sim(path, 305);
  sim.run("cache.l2");

  sim.run("cache.l3");

  EXPECT_EQ(sim.status("cache.l3.sets"), Status::not_resolvable);
  EXPECT_THAT(sim.find("cache.l3.sets").reason, testing::HasSubstr("at work on it for too long"));
}

INSTANTIATE_TEST_SUITE_P(All, MendedCausesTest, testing::ValuesIn(causes()),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace sonde::test
