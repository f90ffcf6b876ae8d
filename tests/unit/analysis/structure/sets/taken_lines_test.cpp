// Caches of one way and of two behind others, of which co-resident lines fill some sets: drawn
// toys.
#include "analysis/structure/sets/line_pool.hpp"

#include "analysis/structure/sets/set_layout.hpp"
#include "base/random.hpp"
#include "unit/analysis/structure/sets/oracle_of.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <map>

namespace sonde {
namespace {

constexpr std::uint64_t line_bytes = 64;

/// A cache of FIFO sets by remainder (a bit field if their number is a power of two), and the lines
/// that are accessed behind every list. Each access stays in the caches before it now and then.
struct Toy {
  std::uint64_t sets = 0;
  std::uint32_t ways = 0;
  double staying = 0;
  LinePool space = {};

  std::uint64_t set_of_line(std::uint64_t line) const { return line / line_bytes % sets; }

  MissCounts chase(const Lines& lines, Random& random) const {
    constexpr std::uint32_t passes = 8;
    std::map<std::uint64_t, std::deque<std::uint64_t>> lines_by_set;
    MissCounts counts{std::vector<std::uint32_t>(lines.size()), passes, 0};
    for (std::uint32_t pass = 0; pass < 2 * passes; ++pass) {
      bool missed_any = false;
      for (std::size_t i = 0; i < lines.size() + space.co_resident.size(); ++i) {
        const bool listed = i < lines.size();
        const std::uint64_t line = listed ? lines[i] : space.co_resident[i - lines.size()];
        if (random.unit() < staying) continue;
        std::deque<std::uint64_t>& set = lines_by_set[set_of_line(line)];
        if (std::ranges::find(set, line) != set.end()) continue;
        set.push_back(line);
        if (set.size() > ways) set.pop_front();
        if (pass < passes) continue;
        missed_any = true;
        if (listed) ++counts.misses[i];
      }
      counts.passes_with_misses += missed_any;
    }
    return counts;
  }

  MissOracle oracle() const {
    return oracle_of(
        [this, random = Random(11)](const Lines& lines) mutable { return chase(lines, random); });
  }
};

/// Co-resident lines at the end of a span of a few times the cache fill an eighth to five eighths
/// of its sets, of a bit field half: the lines that are left then differ in a bit less.
Toy draw_toy(std::uint64_t seed) {
  Random random(seed);
  const bool is_bit_field = random.below(2) == 0;
  Toy toy{.sets = is_bit_field ? 128 << random.below(2) : 100 + random.below(200),
          .ways = static_cast<std::uint32_t>(1 + random.below(2))};
  toy.staying = 0.05 * random.unit();
  const std::uint64_t cached_lines = toy.sets * toy.ways;
  const std::uint64_t span_lines = 1024 * toy.ways;
  toy.space = {.line_bytes = line_bytes,
               .span_bytes = span_lines * line_bytes,
               .cached_lines = cached_lines,
               .seed = seed};
  const std::uint64_t full_sets =
      is_bit_field ? toy.sets / 2 : toy.sets / 8 + random.below(toy.sets / 2);
  const std::uint64_t residents = toy.sets * (toy.ways - 1) + full_sets;
  for (std::uint64_t line = span_lines - residents; line < span_lines; ++line)
    toy.space.co_resident.push_back(line * line_bytes);
  return toy;
}

class TakenLinesTest : public testing::TestWithParam<std::uint64_t> {};

TEST_P(TakenLinesTest, are_those_of_full_sets) {
  const Toy toy = draw_toy(GetParam());
  std::map<std::uint64_t, std::uint32_t> residents;
  for (std::uint64_t line : toy.space.co_resident) ++residents[toy.set_of_line(line)];

  const Lines taken = find_taken_lines(toy.space, toy.oracle());

  std::size_t overlooked = 0;
  std::size_t others = 0;
  for (std::uint64_t line = 0; line < toy.space.co_resident.front(); line += line_bytes) {
    const bool is_full = residents[toy.set_of_line(line)] >= toy.ways;
    const bool is_found = std::ranges::binary_search(taken, line);
    overlooked += is_full && !is_found;
    others += !is_full && is_found;
  }
  EXPECT_GT(taken.size(), 100u);
  EXPECT_EQ(overlooked, 0u);
  EXPECT_LT(others, toy.space.co_resident.front() / line_bytes / 50);
}

TEST_P(TakenLinesTest, leave_the_layout_to_be_found) {
  Toy toy = draw_toy(GetParam());
  toy.space.taken = find_taken_lines(toy.space, toy.oracle());
  toy.space.excluded = toy.space.taken;

  const SetLayout found = find_set_layout(toy.space, toy.oracle());

  EXPECT_EQ(found.index.sets, toy.sets) << found.index.reason;
  EXPECT_EQ(found.ways_per_set, std::vector<std::uint32_t>(toy.sets, toy.ways)) << found.reason;
  EXPECT_GT(found.checked.share(), 0.95);
}

INSTANTIATE_TEST_SUITE_P(Drawn, TakenLinesTest, testing::Range<std::uint64_t>(1, 9));

}  // namespace
}  // namespace sonde
