// Levels of a TLB from chases over growing spans.
#include "analysis/structure/capacity/tlb_levels.hpp"

#include "base/random.hpp"
#include "base/units.hpp"

#include <gtest/gtest.h>

namespace sonde {
namespace {

/// Walks in steps of 256 KiB over spans of 1, 2, 4, ... MiB. @param cost by span in MiB, and page
template <class Cost>
std::vector<PageChaseCosts> walks(std::uint64_t limit_mib, const Cost& cost) {
  std::vector<PageChaseCosts> result;
  for (std::uint64_t span = 1; span <= limit_mib; span *= 2) {
    PageChaseCosts& chase = result.emplace_back(PageChaseCosts{span * 1_MiB, {}});
    for (std::uint64_t page = 0; page < span * 4; ++page) {
      chase.cost_cycles.push_back(cost(span, page));
    }
  }
  return result;
}

/// Through LRU levels with entries of 2 MiB: each new entry pays.
std::vector<PageChaseCosts> chases(std::uint64_t first_mib, std::uint64_t second_mib,
                                   std::uint64_t limit_mib) {
  return walks(limit_mib, [=](std::uint64_t span, std::uint64_t page) -> double {
    const double cost = span > second_mib ? 75 : span > first_mib ? 11 : 0;
    return page % 8 == 0 ? cost : page % 3 == 0 ? 1 : 0;
  });
}

struct Expected {
  double penalty_cycles = 0;
  std::uint64_t fitting_bytes = 0;
};

/// Expects these levels and no others.
void expect_levels(const std::vector<PageChaseCosts>& seen, const std::vector<Expected>& expected) {
  const auto levels = find_tlb_levels(seen, 3);
  ASSERT_EQ(levels.size(), expected.size());
  for (std::size_t i = 0; i < levels.size(); ++i) {
    EXPECT_NEAR(levels[i].penalty_cycles, expected[i].penalty_cycles, 1) << i;
    EXPECT_EQ(levels[i].fitting_bytes, expected[i].fitting_bytes) << i;
  }
}

TEST(TlbLevelsTest, lines_that_a_cache_lost_hide_no_level) {
  auto seen = chases(256, 2048, 8192);
  for (PageChaseCosts& chase : seen) {
    if (chase.span_bytes < 256_MiB) continue;
    const std::size_t pages = chase.cost_cycles.size();
    for (std::size_t page = 1; page < pages; page += 64) chase.cost_cycles[page] = 217;
  }

  const auto levels = find_tlb_levels(seen, 3);

  ASSERT_GE(levels.size(), 2U);
  EXPECT_EQ(levels[0].penalty_cycles, 11);
  EXPECT_EQ(levels[0].overflowing_bytes, 512_MiB);
  EXPECT_EQ(levels[1].penalty_cycles, 75);
}

/// One place in 64 begins an entry that misses at 10 cycles from 512 MiB on; the longest chase, of
/// fewer lines than the others, has twice their noise. As on an H200.
TEST(TlbLevelsTest, noise_of_the_longest_chase_hides_no_cheap_misses) {
  Random random(5);
  const auto noise = [&](double cycles) {
    double sum = 0;
    for (int i = 0; i < 12; ++i) sum += random.unit() - 0.5;  // of deviation 1
    return cycles * sum;
  };
  const auto seen = walks(4096, [&](std::uint64_t span, std::uint64_t page) {
    return (span > 256 && page % 64 == 0 ? 10 : 0) + noise(span == 4096 ? 3 : 1);
  });

  const auto levels = find_tlb_levels(seen, 3);

  ASSERT_GE(levels.size(), 1U);
  EXPECT_EQ(levels[0].fitting_bytes, 256_MiB);
  EXPECT_EQ(levels[0].overflowing_bytes, 512_MiB);
  EXPECT_NEAR(levels[0].penalty_cycles, 10, 1);
}

/// A cache of page tables finds the next entries of one of its own, and not the first.
TEST(TlbLevelsTest, misses_that_find_the_page_table_and_others_are_one_level) {
  const auto seen = walks(4096, [](std::uint64_t span, std::uint64_t page) -> double {
    const double missed = page % 128 == 0 ? 233 : page % 8 == 0 ? 100 : 0;
    const double fitted = page % 8 == 0 && span > 8 ? 20 : 0;
    return span > 512 ? missed : fitted;
  });

  expect_levels(seen, {{20, 8_MiB}, {100, 512_MiB}});
}

TEST(TlbLevelsTest, crossing_page_windows_in_coarse_steps_is_no_level) {
  auto seen = chases(32, 130, 1024);
  seen.push_back({2048_MiB, std::vector<double>(512, 75)});  // steps of 4 MiB
  // Each chase that is long enough crosses windows of 128 MiB.
  for (PageChaseCosts& chase : seen) {
    const std::size_t pages = chase.cost_cycles.size();
    const std::size_t window = pages * 128_MiB / chase.span_bytes;
    for (std::size_t page = 0; chase.span_bytes >= 1024_MiB && page < pages; page += window)
      chase.cost_cycles[page] = 2400;
  }

  EXPECT_EQ(find_tlb_levels(seen, 3).size(), 2U);
}

TEST(TlbLevelsTest, entries_as_large_as_page_windows_are_a_level) {
  std::vector<PageChaseCosts> seen = chases(32, 1 << 20, 2048);
  for (const std::uint64_t span : {4096U, 8192U, 16384U}) {
    PageChaseCosts chase{span * 1_MiB, std::vector<double>(512, 42)};
    // 51 entries of 128 MiB overflow: each misses once.
    const std::uint64_t pages_of_entry = 128 * 512 / span;
    for (std::size_t page = 0; page < 512; page += pages_of_entry)
      if (span > 4096) chase.cost_cycles[page] = 114;
    seen.push_back(std::move(chase));
  }
  for (PageChaseCosts& chase : seen)
    for (double& cost : chase.cost_cycles) cost = cost == 11 ? 42 : cost;

  expect_levels(seen, {{42, 32_MiB}, {114, 4096_MiB}});
}

/// Of 4096 lines 512 KiB apart an L2 kept all, and 256 KiB apart few.
TEST(TlbLevelsTest, lines_lost_at_one_span_are_no_level) {
  std::vector<PageChaseCosts> seen{{512_MiB, std::vector<double>(2048, 0)},
                                   {1024_MiB, std::vector<double>(4096, 337)},
                                   {2048_MiB, std::vector<double>(4096, 0)},
                                   {4096_MiB, std::vector<double>(4096, 0)}};
  for (std::size_t page = 0; page < 4096; page += 16) seen[3].cost_cycles[page] = 50;

  const auto levels = find_tlb_levels(seen, 3);

  ASSERT_EQ(levels.size(), 1U);
  EXPECT_EQ(levels[0].penalty_cycles, 50);
}

/// As an H200 showed once in 26 runs, and an H100 once in 40.
TEST(TlbLevelsTest, pages_that_cost_more_in_one_chase_alone_are_no_level) {
  auto seen = chases(256, 2048, 8192);
  for (const std::size_t page : {9U, 77U, 201U}) {  // of 64 MiB
    seen[6].cost_cycles[page] = 6;
  }

  expect_levels(seen, {{11, 256_MiB}, {75, 2048_MiB}});
}

/// Four sub-entries of each entry of one of two sets miss first, then those of both: in steps of a
/// sub-entry the share doubles.
TEST(TlbLevelsTest, a_set_that_was_spared_at_first_overflows_in_the_next_chase) {
  std::vector<PageChaseCosts> seen;
  for (std::uint64_t pages = 32; pages <= 2048; pages *= 2) {
    PageChaseCosts chase{pages * 1_MiB / 4, std::vector<double>(pages, 0)};
    const std::uint64_t missing = pages < 512 ? 0 : pages == 512 ? 16 : pages / 16;
    for (std::uint64_t i = 0; i < missing; ++i) chase.cost_cycles[i * (pages / missing)] = 42;
    seen.push_back(chase);
  }

  const auto levels = find_tlb_levels(seen, 3);

  ASSERT_EQ(levels.size(), 1U);
  EXPECT_EQ(levels[0].overflowing_bytes, 256_MiB);
}

/// 32 and 57 entries of 2 MiB: spans double from 64 to 128 MiB, where some sets of the second level
/// still hold theirs.
TEST(TlbLevelsTest, two_levels_that_one_chase_overflows_are_two) {
  auto seen = chases(64, 64, 512);
  for (PageChaseCosts& chase : seen) {
    if (chase.span_bytes != 128_MiB) continue;
    for (std::size_t page = 0; page < chase.cost_cycles.size(); page += 7 * 8)
      chase.cost_cycles[page] = 11;
  }

  expect_levels(seen, {{11, 64_MiB}, {75, 64_MiB}});
}

}  // namespace
}  // namespace sonde
