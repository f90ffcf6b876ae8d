// Lists of offsets: what each builder promises about its order.
#include "jobs/chase/access_order.hpp"

#include "jobs/chase/pattern_order.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

namespace sonde {
namespace {

TEST(AccessOrderTest, shuffled_order_has_the_same_lines_in_another_order) {
  Offsets shuffled = shuffled_order(4096, 128, 7);

  EXPECT_NE(shuffled, ascending_order(4096, 128));
  EXPECT_EQ(shuffled, shuffled_order(4096, 128, 7));
  std::sort(shuffled.begin(), shuffled.end());
  EXPECT_EQ(shuffled, ascending_order(4096, 128));
}

TEST(AccessOrderTest, sparse_order_takes_one_unit_of_each_block_in_both_halves) {
  std::map<std::uint64_t, std::uint64_t> unit_of_block;
  int upper = 0;
  for (std::uint64_t offset : sparse_order(64 * 1024, 256, 32, 1)) {
    EXPECT_TRUE(unit_of_block.emplace(offset / 256, offset % 256).second);
    EXPECT_TRUE(offset % 256 == 0 || offset % 256 == 128);
    upper += offset % 256 == 128 ? 1 : 0;
  }

  EXPECT_EQ(unit_of_block.size(), 256U);
  EXPECT_NEAR(upper, 128, 40);
}

TEST(AccessOrderTest, page_by_page_asks_for_neighbours_a_round_later) {
  const Offsets shuffled = shuffled_order(64 * 1024, 64, 3);

  const Offsets ordered = page_by_page(shuffled);

  EXPECT_EQ(std::set(ordered.begin(), ordered.end()), std::set(shuffled.begin(), shuffled.end()));
  const std::size_t of_round = ordered.size() / 8;  // one line in each 512 bytes
  std::size_t changes_of_page = 0;
  for (std::size_t i = 0; i < ordered.size(); ++i) {
    EXPECT_EQ(ordered[i] % 512, ordered[i / of_round * of_round] % 512);
    if (i > 0 && ordered[i] / 4096 != ordered[i - 1] / 4096) ++changes_of_page;
  }
  EXPECT_EQ(changes_of_page, 8 * 16 - 1U);  // sixteen pages in each round
}

TEST(AccessOrderTest, translated_pairs_lie_in_half_of_the_smallest_page) {
  const Offsets pairs = translated_pairs(64 * 1024, 128, 3);

  EXPECT_EQ(std::set(pairs.begin(), pairs.end()).size(), 512U);
  EXPECT_EQ(pairs.size(), 512U);
  int upper_first = 0;
  for (std::size_t i = 0; i < pairs.size(); i += 2) {
    EXPECT_EQ(pairs[i] ^ 1024, pairs[i + 1]);
    upper_first += pairs[i] > pairs[i + 1] ? 1 : 0;
  }
  EXPECT_NEAR(upper_first, 128, 40);
}

TEST(AccessOrderTest, the_return_pass_meets_the_newest_lines_first) {
  EXPECT_EQ(fill_and_return(512, 256, 128), (Offsets{0, 128, 256, 384, 384, 256}));
}

TEST(AccessOrderTest, lines_of_neighbouring_pages_differ_in_their_place) {
  const PageSpread spread{1 << 21, 32, 1 << 16};
  std::set<std::uint64_t> places;

  for (std::uint64_t page = 0; page < 2048; ++page) {
    const std::uint64_t line = page_line(spread, page);
    EXPECT_EQ(line >> 21, page);
    places.insert(line & ((1 << 21) - 1));
  }

  EXPECT_EQ(places.size(), 2048U);
}

TEST(AccessOrderTest, entry_chase_pushes_targets_out_of_inner_levels_before_each_access) {
  EntryChaseRequest request;
  request.target_step_bytes = 4096;
  request.target_count = 4;
  request.evictors = {1 << 18, 32, 1 << 16};
  request.evictors_end_bytes = 1 << 23;
  request.inner_evictors = {1 << 19, 32, 1 << 16};
  request.inner_evictor_count = 3;

  const EntryChase chase = entry_chase(request);

  ASSERT_EQ(chase.targets.size(), 4U);
  std::map<std::uint64_t, int> accesses;
  for (std::uint64_t offset : chase.offsets) ++accesses[offset / 32];
  for (const auto& [sector, count] : accesses) EXPECT_LE(count, 4) << sector;
  for (std::size_t i = 0; i < 4; ++i) {
    const std::size_t at = chase.targets[i];
    EXPECT_EQ(chase.offsets[at] / 4096, i);
    EXPECT_EQ(chase.offsets[at], chase.offsets[at + 1]);
    for (std::size_t before = 1; before <= 3; ++before) {
      EXPECT_GE(chase.offsets[at - before], (1U << 23) - 3 * (1U << 19));
    }
  }
}

PatternRequest fermi_request() {
  PatternRequest request;
  request.page_step_bytes = request.granularity_bytes = 1 << 21;
  request.near_entries = 16;
  request.next_entries = 65;
  request.all_entries = 65;
  request.knows_last = true;
  request.most_pages = 3000;
  request.most_lines = 384;
  request.line_step_bytes = 128;
  return request;
}

const PatternPhase& phase_of(const PatternChase& chase, Pattern pattern) {
  return *std::find_if(chase.phases.begin(), chase.phases.end(),
                       [=](const PatternPhase& phase) { return phase.pattern == pattern; });
}

/// Places of the chase that belong to a pattern.
std::vector<std::size_t> places_of(const PatternChase& chase, Pattern pattern) {
  std::vector<std::size_t> places;
  for (const PatternPhase& phase : chase.phases) {
    if (phase.pattern != pattern) continue;
    for (std::size_t i = 0; i < phase.count; ++i) places.push_back(phase.first + i);
  }
  return places;
}

TEST(PatternOrderTest, further_lines_are_new_and_in_the_page_just_accessed) {
  const PatternChase chase = plan_patterns(fermi_request());

  const auto places = places_of(chase, Pattern::p4);
  ASSERT_GE(places.size(), 16U);
  std::set<std::uint64_t> pages;
  for (const std::size_t place : places) {
    const auto before = chase.offsets.begin() + static_cast<long>(place);
    EXPECT_EQ(std::find(chase.offsets.begin(), before, *before), before);
    EXPECT_EQ(*before >> 21, *(before - 1) >> 21);
    pages.insert(*before >> 21);
  }
  EXPECT_EQ(pages.size(), 16U);
}

TEST(PatternOrderTest, hits_are_loads_of_the_line_just_loaded) {
  const PatternChase chase = plan_patterns(fermi_request());

  const auto places = places_of(chase, Pattern::p1);
  ASSERT_GE(places.size(), 16U);
  for (const std::size_t place : places) {
    EXPECT_EQ(chase.offsets[place], chase.offsets[place - 1]);
  }
}

TEST(PatternOrderTest, rounds_pass_the_right_levels) {
  const PatternChase chase = plan_patterns(fermi_request());

  for (const auto& [pattern, least, most] :
       {std::tuple{Pattern::p3, 66U, 384U}, std::tuple{Pattern::p2, 17U, 65U}}) {
    const PatternPhase& phase = phase_of(chase, pattern);
    std::set<std::uint64_t> pages;
    for (std::size_t i = phase.first; i < phase.first + phase.count; ++i) {
      pages.insert(chase.offsets[i] >> 21);
    }
    EXPECT_GE(pages.size(), least);
    EXPECT_LE(pages.size(), most);
  }
}

TEST(PatternOrderTest, first_accesses_lie_further_apart_where_entries_are_not_known) {
  PatternRequest request = fermi_request();
  request.cold_distance = 16;

  const PatternChase chase = plan_patterns(request);

  const PatternPhase& p5 = phase_of(chase, Pattern::p5);
  for (std::size_t i = p5.first; i < p5.first + p5.count; ++i)
    EXPECT_EQ((chase.offsets[i - 1] >> 21) - (chase.offsets[i] >> 21), 16U);
  EXPECT_LE(chase.span_bytes, distant_cold_pages * 16 << 21);
}

TEST(PatternOrderTest, no_sector_is_accessed_too_often_for_a_chain) {
  PatternRequest request = fermi_request();
  for (const std::uint64_t distance : {1, 16}) {
    request.cold_distance = distance;
    std::map<std::uint64_t, int> accesses;
    for (std::uint64_t offset : plan_patterns(request).offsets) ++accesses[offset / 32];
    for (const auto& [sector, count] : accesses) EXPECT_LE(count, 4) << sector;
  }
}

TEST(PatternOrderTest, p3_needs_lines_that_fit_memory_and_a_last_level_that_is_known) {
  struct Case {
    std::uint64_t most_lines;
    bool knows_last;
    std::uint64_t most_pages;
    bool has_p3;
  };
  for (const Case& one :
       {Case{384, true, 3000, true},
        Case{134, true, 3000, true},  // three quarters of them for 98 pages
        Case{64, true, 3000, false}, Case{384, false, 3000, false}, Case{384, true, 90, false}}) {
    PatternRequest request = fermi_request();
    request.most_lines = one.most_lines;
    request.knows_last = one.knows_last;
    request.most_pages = one.most_pages;
    EXPECT_EQ(!places_of(plan_patterns(request), Pattern::p3).empty(), one.has_p3)
        << one.most_lines << " lines, " << one.most_pages << " pages";
  }
}

/// Each access of P6 goes to the other one of two windows, of many pages or of four, and none to a
/// page that P5 takes for new.
TEST(PatternOrderTest, cold_pages_come_first_and_once_and_windows_by_turns) {
  for (const auto& [page_bits, window_bits] : {std::pair{21, 29}, std::pair{25, 27}}) {
    PatternRequest request = fermi_request();
    request.page_step_bytes = request.granularity_bytes = 1ULL << page_bits;
    request.window_bytes = 1ULL << window_bits;

    const PatternChase chase = plan_patterns(request);

    const PatternPhase& p6 = phase_of(chase, Pattern::p6);
    const PatternPhase& p5 = phase_of(chase, Pattern::p5);
    std::set<std::uint64_t> pages;
    for (std::size_t i = 0; i < p5.first + p5.count; ++i) {
      EXPECT_TRUE(pages.insert(chase.offsets[i] >> page_bits).second);
      if (i > 0 && i < p6.first + p6.count) {
        EXPECT_NE(chase.offsets[i] >> window_bits, chase.offsets[i - 1] >> window_bits);
      }
    }
    EXPECT_GT(pages.size(), 65U);
  }
}

/// What a fetch of 512 bytes brings along is asked for by no other timed access.
TEST(AccessOrderTest, timed_passes_over_new_lines_share_no_fetch) {
  const Offsets pairs = page_pairs({65536, 32, 65536}, 0, 40);
  const NewLines lines{.part_bytes = 4096, .settling = 2, .timed = new_line_passes(4096)};

  const Offsets passes = passes_over_new_lines(pairs, lines);

  ASSERT_EQ(passes.size(), (2 + 3) * pairs.size());
  std::map<std::uint64_t, std::size_t> pass_of;  // by fetch
  for (std::size_t i = 0; i < passes.size(); ++i) {
    EXPECT_EQ(passes[i] / 4096, pairs[i % pairs.size()] / 4096);
    const std::size_t pass = std::max<std::size_t>(i / pairs.size(), 1);
    const auto [at, is_new] = pass_of.try_emplace(passes[i] / 512, pass);
    EXPECT_TRUE(is_new || at->second == 1) << "only passes that settle take lines again";
    EXPECT_TRUE(i % 2 == 1 || passes[i] == passes[i + 1] + 2048);
    EXPECT_TRUE(i < 2 * pairs.size() || passes[i] < passes[i - pairs.size()]);
  }
}

TEST(AccessOrderTest, new_lines_are_met_from_below_too_and_single_accesses_stay) {
  const Offsets offsets{100, 8192, 8192, 77777};

  EXPECT_EQ(passes_over_new_lines(offsets, {.part_bytes = 2048}),
            (Offsets{100, 9216, 8192, 77777}));
  EXPECT_EQ(passes_over_new_lines(offsets, {.part_bytes = 2048, .from_below = true}),
            (Offsets{100, 8192, 9216, 77777}));
}

}  // namespace
}  // namespace sonde
