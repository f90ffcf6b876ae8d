// The searches for conflicts and sets, on toy caches of every kind of index function.
#include "analysis/structure/sets/set_layout.hpp"

#include "base/random.hpp"
#include "unit/analysis/structure/sets/oracle_of.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <numeric>

namespace sonde {
namespace {

enum class ToyPolicy { lru, random };

/// Tags alone: sets of any associativity, any index function.
struct Toy {
  std::vector<std::uint32_t> ways;
  std::function<std::uint32_t(std::uint64_t)> index;
  ToyPolicy policy = ToyPolicy::lru;
  double outliers = 0;

  MissCounts chase(const Lines& lines, Random& random) const {
    constexpr std::uint32_t warmup = 8;
    constexpr std::uint32_t passes = 8;
    std::map<std::uint32_t, std::vector<std::uint64_t>> sets;
    MissCounts counts{std::vector<std::uint32_t>(lines.size()), passes, 0};
    for (std::uint32_t pass = 0; pass < warmup + passes; ++pass) {
      bool missed_any = false;
      for (std::size_t i = 0; i < lines.size(); ++i) {
        const std::uint32_t set = index(lines[i]);
        bool missed = access(sets[set], ways[set], lines[i], random);
        missed = missed || random.unit() < outliers;
        if (pass < warmup) continue;
        counts.misses[i] += missed;
        missed_any = missed_any || missed;
      }
      counts.passes_with_misses += missed_any;
    }
    return counts;
  }

  bool access(std::vector<std::uint64_t>& set, std::uint32_t associativity, std::uint64_t line,
              Random& random) const {
    const auto at = std::find(set.begin(), set.end(), line);
    if (at != set.end()) {
      if (policy == ToyPolicy::lru) std::rotate(at, at + 1, set.end());
      return false;
    }
    if (set.size() < associativity) {
      set.push_back(line);
    } else if (policy == ToyPolicy::lru) {
      set.erase(set.begin());
      set.push_back(line);
    } else {
      set[random.below(associativity)] = line;
    }
    return true;
  }

  MissOracle oracle() const {
    return oracle_of(
        [this, random = Random(7)](const Lines& lines) mutable { return chase(lines, random); });
  }
};

LinePool space_for(const Toy& toy, std::uint64_t line_bytes, std::uint64_t span_bytes) {
  const std::uint64_t lines = std::accumulate(toy.ways.begin(), toy.ways.end(), 0u);
  return {.line_bytes = line_bytes, .span_bytes = span_bytes, .cached_lines = lines, .seed = 3};
}

std::vector<std::uint32_t> equal(std::size_t sets, std::uint32_t ways) {
  return std::vector<std::uint32_t>(sets, ways);
}

/// Where no function tells sets they are looked for one by one, and a search in groups overlooks
/// lines under random replacement: those are no sets of their own.
TEST(SetSearchTest, counts_no_set_twice_under_random_replacement) {
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    Toy toy{equal(7, 9), [=](std::uint64_t a) { return mix_bits((a >> 7) ^ (seed << 40)) % 7; }};
    toy.policy = ToyPolicy::random;

    const SetLayout found = find_set_layout(space_for(toy, 128, 1 << 19), toy.oracle());

    EXPECT_EQ(found.ways_per_set, equal(7, 9)) << seed;
  }
}

TEST(SetSearchTest, is_not_led_astray_by_a_chase_that_seems_to_overflow_once) {
  const Toy toy{equal(256, 8), [](std::uint64_t a) { return (a >> 7) % 256; }};
  bool disturbed = false;
  const MissOracle once_disturbed = [&, ask = toy.oracle()](std::span<const Lines> lists) {
    std::vector<MissCounts> answers = ask(lists);
    for (MissCounts& counts : answers) {
      if (disturbed || counts.misses.size() < 256) continue;
      counts.passes_with_misses = counts.passes;  // an outlier in each of them
      disturbed = true;
    }
    return answers;
  };

  const SetLayout found = find_set_layout(space_for(toy, 128, 1 << 22), once_disturbed);

  EXPECT_TRUE(disturbed);
  EXPECT_EQ(describe(found.index), "bits 7-14");
  EXPECT_EQ(found.ways_per_set, equal(256, 8));
}

TEST(SetSearchTest, gives_up_where_chases_overflow_by_chance) {
  std::size_t overflown = 0;
  const MissOracle by_chance = oracle_of([&, random = Random(5)](const Lines& lines) mutable {
    EXPECT_FALSE(lines.empty());
    const bool overflows = random.unit() < 0.9;
    overflown += overflows;
    return MissCounts{std::vector<std::uint32_t>(lines.size()), 8, overflows ? 8u : 0u};
  });

  const SetLayout found = find_set_layout(
      {.line_bytes = 128, .span_bytes = 1 << 21, .cached_lines = 256, .seed = 3}, by_chance);

  EXPECT_GT(overflown, 0U);
  EXPECT_FALSE(found.conflict);
  EXPECT_NE(found.reason.find("no smallest part was found that overflows reliably"),
            std::string::npos);
}

/// A toy behind inner caches: every chase accesses these lines, too.
MissOracle oracle_with_co_residents(const Toy& toy, const Lines& co_resident) {
  return [=, ask = toy.oracle()](std::span<const Lines> lists) {
    std::vector<Lines> chased(lists.begin(), lists.end());
    for (Lines& lines : chased) lines.insert(lines.end(), co_resident.begin(), co_resident.end());
    std::vector<MissCounts> answers = ask(chased);
    for (std::size_t i = 0; i < lists.size(); ++i) answers[i].misses.resize(lists[i].size());
    return answers;
  };
}

/// Sets of a table that no function tells: two in a row, then one.
const Toy unequal_by_table{{17, 8, 8, 8}, [](std::uint64_t a) {
                             constexpr std::array table{0, 0, 1, 2, 3, 2, 1, 0, 3, 3, 1};
                             return table[(a >> 21) % table.size()];
                           }};

TEST(SetSearchTest, does_not_guess_ways_next_to_lines_whose_sets_it_cannot_tell) {
  constexpr std::uint64_t page = 1 << 21;
  LinePool space = space_for(unequal_by_table, page, 512 * page);
  for (std::uint64_t line = 500; line < 512; ++line) space.co_resident.push_back(line * page);

  const SetLayout found =
      find_set_layout(space, oracle_with_co_residents(unequal_by_table, space.co_resident));

  EXPECT_FALSE(found.resolved());
  EXPECT_FALSE(found.reason.empty());
}

/// One set follows two bits; the lines of the three other values of these go by a table.
TEST(SetSearchTest, counts_only_the_check_of_the_layout_it_gives) {
  const Toy toy{{4, 6, 6}, [](std::uint64_t a) {
                  const std::uint64_t line = a >> 7;
                  return line % 4 == 0 ? 0 : static_cast<std::uint32_t>(1 + mix_bits(line) % 2);
                }};

  LinePool space = space_for(toy, 128, 1 << 21);
  int contradicted = 0;
  for (space.seed = 1; space.seed <= 16; ++space.seed) {
    const SetLayout found = find_set_layout(space, toy.oracle());

    contradicted += found.reason == "other chases contradict the function that fits one set";
    EXPECT_EQ(found.ways_per_set, (std::vector<std::uint32_t>{6, 6, 4}));
    EXPECT_EQ(found.checked.share(), 1) << found.reason;
  }
  EXPECT_GT(contradicted, 0);
}

/// As a bit does but for a few lines of each period, which another set takes.
TEST(SetSearchTest, does_not_take_a_table_for_a_bit) {
  const Toy toy{{154, 146}, [](std::uint64_t a) {
                  const std::uint64_t line = (a >> 7) % 150;
                  return static_cast<std::uint32_t>(line < 146 ? line % 2 : 0);
                }};

  const SetLayout found = find_set_layout(space_for(toy, 128, 1 << 21), toy.oracle());

  EXPECT_EQ(found.index.kind, IndexKind::unresolved);
  EXPECT_EQ(found.ways_per_set, toy.ways);
}

/// All lines of four address bits share the first set; each of the others is two by a fifth bit.
TEST(SetSearchTest, does_not_take_two_sets_for_one_because_the_first_is_no_two) {
  const Toy toy{equal(31, 8), [](std::uint64_t a) {
                  const auto low = static_cast<std::uint32_t>((a >> 7) % 16);
                  const auto high = static_cast<std::uint32_t>((a >> 13) % 2);
                  return low == 0 ? 0 : low + 15 * high;
                }};
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    LinePool space = space_for(toy, 128, 1 << 19);
    space.seed = seed;

    const SetLayout found = find_set_layout(space, toy.oracle());

    for (const std::uint32_t ways : found.ways_per_set) EXPECT_EQ(ways, 8U) << "seed " << seed;
  }
}

}  // namespace
}  // namespace sonde
