// Packing of lines into sets that nobody knows, by what misses beside them.
#include "analysis/structure/sets/packing.hpp"

#include "base/random.hpp"

#include <gtest/gtest.h>

#include <map>

namespace sonde {
namespace {

constexpr std::uint32_t passes = 3;

Lines first_lines(std::uint64_t count) {
  Lines lines;
  for (std::uint64_t line = 0; line < count; ++line) lines.push_back(line);
  return shuffled(std::move(lines), 7);
}

/// Sets by remainder. Of an overfull set every line misses, or, where `keeps_some`, only the last.
MissOracle cache_of(std::uint64_t sets, std::size_t ways, bool keeps_some = false) {
  return [=](std::span<const Lines> lists) {
    std::vector<MissCounts> answers;
    for (const Lines& list : lists) {
      std::map<std::uint64_t, Lines> by_set;
      for (const std::uint64_t line : list) by_set[line % sets].push_back(line);
      MissCounts counts{std::vector<std::uint32_t>(list.size()), passes, 0};
      for (std::size_t i = 0; i < list.size(); ++i) {
        const Lines& set = by_set[list[i] % sets];
        const bool misses = set.size() > ways && (!keeps_some || list[i] == set.front());
        if (misses) counts.misses[i] = counts.passes_with_misses = passes;
      }
      answers.push_back(std::move(counts));
    }
    return answers;
  };
}

TEST(PackingTest, fills_every_set) {
  const PackedLines packed = pack_lines(first_lines(40 * 8 * 3), 40, cache_of(40, 8), 1000);

  EXPECT_TRUE(packed.complete);
  EXPECT_EQ(packed.lines.size(), 40u * 8);
  EXPECT_EQ(packed.left_over, 40u * 8 * 2);
}

TEST(PackingTest, batches_of_other_sizes_come_to_the_same) {
  for (const std::size_t batch : {1u, 13u, 80u}) {
    const PackedLines packed = pack_lines(first_lines(40 * 8 * 3), batch, cache_of(40, 8), 5000);

    EXPECT_TRUE(packed.complete) << batch;
    EXPECT_EQ(packed.lines.size(), 40u * 8) << batch;
  }
}

TEST(PackingTest, a_pool_that_fits_is_packed_whole) {
  const PackedLines packed = pack_lines(first_lines(200), 40, cache_of(40, 8), 1000);

  EXPECT_TRUE(packed.complete);
  EXPECT_EQ(packed.lines.size(), 200u);
  EXPECT_EQ(packed.left_over, 0u);
}

TEST(PackingTest, stops_when_it_takes_too_many_chases) {
  const PackedLines packed = pack_lines(first_lines(960), 40, cache_of(40, 8), 10);

  EXPECT_FALSE(packed.complete);
}

/// A line of a full set that does not miss itself is kept: the packed lines overflow, and that
/// shows.
TEST(PackingTest, sets_that_keep_some_of_too_many_lines_are_not_counted) {
  const PackedLines packed = pack_lines(first_lines(960), 40, cache_of(40, 8, true), 1000);

  EXPECT_FALSE(packed.complete);
}

}  // namespace
}  // namespace sonde
