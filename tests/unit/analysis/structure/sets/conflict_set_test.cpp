// The search for the smallest overfull set, where chases tell only that something overflows.
#include "analysis/structure/sets/conflict_set.hpp"

#include "analysis/structure/sets/group_testing.hpp"
#include "base/random.hpp"
#include "unit/analysis/structure/sets/oracle_of.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

namespace sonde {
namespace {

constexpr std::uint32_t passes = 3;
constexpr std::uint64_t ways = 6;

/// An answer that shows that a list overflows, and of no line that it missed again.
MissCounts overflow_of_no_line(std::size_t lines, bool overflows) {
  MissCounts counts{std::vector<std::uint32_t>(lines), passes, 0};
  if (overflows) counts.passes_with_misses = passes;
  return counts;
}

std::size_t lines_of(const Lines& list, std::uint64_t set) {
  return static_cast<std::size_t>(std::count_if(list.begin(), list.end(), [&](std::uint64_t line) {
    return line % 32 == set || line == 1000;  // one line takes a way in every set
  }));
}

bool overfills(const Lines& list, std::uint64_t sets) {
  for (std::uint64_t set = 0; set < sets; ++set) {
    if (lines_of(list, set) > ways) return true;
  }
  return false;
}

Lines pool_with_a_line_of_all_sets() {
  Lines pool;
  for (std::uint64_t line = 0; line < 32 * ways; ++line) pool.push_back(line);
  pool.push_back(1000);
  return pool;
}

TEST(ConflictSearchTest, finds_one_of_several_sets_that_one_line_overfills) {
  const MissOracle ask = oracle_of(
      [](const Lines& list) { return overflow_of_no_line(list.size(), overfills(list, 5)); });
  std::string reason;

  const auto conflict = find_eviction_set(pool_with_a_line_of_all_sets(), ask, reason);

  ASSERT_TRUE(conflict) << reason;
  EXPECT_EQ(conflict->ways(), ways);
  EXPECT_TRUE(overfills(conflict->lines, 5));
}

/// The first TLB of an H200: a miss costs so little that a list that fits seems to overflow now and
/// then.
TEST(ConflictSearchTest, finds_the_one_set_of_a_small_level_whose_misses_cost_little) {
  constexpr std::size_t entries = 16;
  const auto found_of_seed = [](std::uint64_t seed) {
    const MissOracle ask = oracle_of([random = Random(seed)](const Lines& list) mutable {
      const bool noise = random.unit() < 0.1;
      return overflow_of_no_line(list.size(), noise || list.size() > entries);
    });
    Lines pool(64);
    std::iota(pool.begin(), pool.end(), 0);
    std::string reason;
    const auto conflict = find_eviction_set(pool, ask, reason);
    return conflict && conflict->ways() == entries;
  };
  int found = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) found += found_of_seed(seed) ? 1 : 0;
  EXPECT_GE(found, 34);
}

/// The second TLB level of an H200 does so: some lists miss throughout one chase and not in the
/// next.
TEST(ConflictSearchTest, says_that_lines_overflow_in_some_chases_only) {
  Lines pool;
  for (std::uint64_t line = 0; line < 64; ++line) pool.push_back(line * 128);
  int overflown = 0;
  const MissOracle at_first = oracle_of([&](const Lines& lines) {
    const bool overflows = lines.size() == pool.size() && overflown < 3;
    overflown += overflows;
    return MissCounts{std::vector<std::uint32_t>(lines.size()), 8, overflows ? 8u : 0u};
  });

  std::string reason;
  const auto conflict = find_eviction_set(pool, at_first, reason);

  EXPECT_FALSE(conflict);
  EXPECT_NE(reason.find("all of them fit in 8 of 8 other orders of accesses"), std::string::npos)
      << reason;
}

/// The first TLB of an H200 showed such a list in two of a hundred searches: what was taken for a
/// set overflowed in the order it was found in, and in few others.
TEST(ConflictSetTest, lines_that_overflow_in_one_order_alone_are_no_set) {
  Lines pool;
  for (std::uint64_t line = 0; line < 64; ++line) pool.push_back(line * 128);
  // The lines below 20 fit unless all of the last five follow each other in rising order; 24 and
  // more of the pool overfill the only set.
  const auto rises_at_its_end = [](const Lines& list) {
    return list.size() == 5 && std::ranges::is_sorted(list) && list.back() < 20 * 128;
  };
  const MissOracle ask = oracle_of([&](const Lines& list) {
    const bool misleads =
        rises_at_its_end(list) || (list.size() == 20 && list == slice(pool, 0, 20));
    const std::uint32_t misses = misleads || list.size() >= 24 ? 8 : 0;
    MissCounts counts{std::vector<std::uint32_t>(list.size()), 8, misses};
    for (std::size_t i = 0; i < list.size(); ++i) {
      const bool shows = list.size() >= 24 || rises_at_its_end(list) || list[i] >= 15 * 128;
      counts.misses[i] = shows ? misses : 0;
    }
    return counts;
  });

  std::string reason;
  const auto in_any = find_eviction_set(pool, ask, reason);
  ASSERT_TRUE(in_any) << reason;
  EXPECT_EQ(in_any->ways(), 23u);
}

}  // namespace
}  // namespace sonde
