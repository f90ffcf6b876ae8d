// How many ways each set has.
#include "analysis/structure/sets/ways_per_set.hpp"
#include "unit/analysis/structure/sets/oracle_of.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <optional>

namespace sonde {
namespace {

constexpr std::uint32_t tried_passes = 3;

/// A level of 128 sets of four ways.
class WaysPerSetTest : public testing::Test {
 protected:
  static constexpr std::uint64_t line_bytes = 128;
  static constexpr std::uint32_t set_ways = 4;
  /// In how many tried_passes a line is lost although the lines of its set fit.
  using Lost =
      std::function<std::uint32_t(const Lines& of_set, std::uint64_t set, std::uint64_t line)>;

  WaysPerSetTest() {
    index.kind = IndexKind::bit_field;
    for (int bit = 7; bit < 14; ++bit) index.masks.push_back(std::uint64_t{1} << bit);
    index.sets = 128;
  }

  /// @param lines that memory has
  WaysBySet measure_with(const Lost& lost, std::uint64_t lines) {
    const MissOracle ask = oracle_of([&](const Lines& list) { return answer(list, lost); });
    const LinePool space{.line_bytes = line_bytes,
                         .span_bytes = lines * line_bytes,
                         .cached_lines = std::uint64_t{128} * set_ways,
                         .seed = 3};
    const EvictionSet conflict{.lines = Lines{0, 16384, 32768, 49152, 65536}, .fitting_lines = 512};
    return measure_ways(index, space, conflict, ask);
  }

  std::vector<std::uint32_t> measure(const Lost& lost) {
    return measure_with(lost, index.sets * 64).ways;
  }

  MissCounts answer(const Lines& list, const Lost& lost) {
    MissCounts counts{std::vector<std::uint32_t>(list.size()), tried_passes, 0};
    std::vector<Lines> by_set(index.sets);
    for (const std::uint64_t line : list) by_set[set_of(index, line)].push_back(line);
    for (std::size_t at = 0; at < list.size(); ++at) {
      const std::uint64_t set = set_of(index, list[at]);
      counts.misses[at] =
          by_set[set].size() > set_ways ? tried_passes : lost(by_set[set], set, list[at]);
    }
    if (!list.empty()) counts.passes_with_misses = std::ranges::max(counts.misses);
    return counts;
  }

  IndexFunction index;
};

/// A page of the program's own takes a way of one set of a TLB most of the time (the last set of an
/// H200's second TLB).
TEST_F(WaysPerSetTest, a_way_that_something_else_takes_most_of_the_time_counts) {
  int asked = 0;
  const auto found = measure([&](const Lines& of_set, std::uint64_t set, std::uint64_t line) {
    if (set != 127 || of_set.size() < set_ways) return 0u;
    if (line == of_set.front()) ++asked;
    return asked % 4 != 0 ? tried_passes : 0u;
  });
  EXPECT_EQ(found, std::vector<std::uint32_t>(index.sets, set_ways));
}

/// An H100 has 2,341 entries for the 2,048 of its second TLB, of which some are taken: 99 of 256
/// sets had no ninth one.
TEST_F(WaysPerSetTest, sets_without_a_line_too_many_are_like_the_others) {
  const auto none_lost = [](const Lines&, std::uint64_t, std::uint64_t) { return 0u; };
  const std::uint64_t all_but_one_too_many = index.sets * set_ways;

  const WaysBySet found = measure_with(none_lost, all_but_one_too_many + 70);
  EXPECT_EQ(found.ways, std::vector<std::uint32_t>(index.sets, set_ways));
  EXPECT_EQ(found.short_sets, index.sets - 70);

  EXPECT_TRUE(measure_with(none_lost, all_but_one_too_many + 60).ways.empty());
}

/// One that loses lines although there are no more than the others hold is smaller.
TEST_F(WaysPerSetTest, a_set_without_a_line_too_many_may_be_smaller) {
  const auto found = measure_with(
      [](const Lines& of_set, std::uint64_t set, std::uint64_t) {
        return set == 100 && of_set.size() == set_ways ? tried_passes : 0u;
      },
      index.sets * set_ways + 70);
  std::vector<std::uint32_t> expected(index.sets, set_ways);
  expected[100] = set_ways - 1;
  EXPECT_EQ(found.ways, expected);
}

/// Something else takes a way of one set once, whenever that set is asked for:
/// its lines, as many as it has ways, push each other out in that pass and stay in all others.
TEST_F(WaysPerSetTest, a_single_pass_that_was_disturbed_makes_no_set_smaller) {
  const auto found = measure([&](const Lines& of_set, std::uint64_t set, std::uint64_t) {
    return set == 127 && of_set.size() == set_ways ? 1u : 0u;
  });
  EXPECT_EQ(found, std::vector<std::uint32_t>(index.sets, set_ways));
}

/// Of the only set one line is slow in whatever list it stands (an H200's first TLB, in one of 43
/// runs): lists without it hold as many as the conflict showed.
TEST_F(WaysPerSetTest, a_line_that_is_always_slow_does_not_make_the_only_set_smaller) {
  index.masks.clear();
  index.sets = 1;
  std::optional<std::uint64_t> slow;
  const auto found =
      measure([&](const Lines& of_set, std::uint64_t, std::uint64_t line) -> std::uint32_t {
        if (!slow) slow = of_set[set_ways / 2];
        return line == slow ? tried_passes : 0;
      });
  EXPECT_EQ(found, std::vector<std::uint32_t>(1, set_ways));
}

}  // namespace
}  // namespace sonde
