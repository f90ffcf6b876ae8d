// Caches with more tags than data: sets are found although most lists fill the data first.
#include "analysis/structure/sets/set_layout.hpp"
#include "base/random.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <map>

namespace sonde {
namespace {

/// Sets of LRU tags before data that are replaced in turn.
struct TagsBeforeData {
  std::uint32_t sets = 8;
  std::uint32_t ways = 64;
  std::size_t data_lines = 416;

  std::uint32_t set_of(std::uint64_t line) const {
    const std::uint64_t number = line / 128;
    return static_cast<std::uint32_t>((number ^ number / 16 ^ number / 256) % sets);
  }

  MissCounts chase(const Lines& lines) const {
    constexpr std::uint32_t warmup = 3;
    MissCounts counts{std::vector<std::uint32_t>(lines.size()), 3, 0};
    std::map<std::uint32_t, std::deque<std::uint64_t>> tags;
    std::deque<std::uint64_t> data;
    for (std::uint32_t pass = 0; pass < warmup + counts.passes; ++pass) {
      bool missed_any = false;
      for (std::size_t i = 0; i < lines.size(); ++i) {
        const bool missed = access(tags[set_of(lines[i])], tags, data, lines[i]);
        if (pass < warmup) continue;
        counts.misses[i] += missed;
        missed_any = missed_any || missed;
      }
      counts.passes_with_misses += missed_any;
    }
    return counts;
  }

  bool access(std::deque<std::uint64_t>& set,
              std::map<std::uint32_t, std::deque<std::uint64_t>>& tags,
              std::deque<std::uint64_t>& data, std::uint64_t line) const {
    if (std::erase(set, line) > 0) {
      set.push_back(line);
      return false;
    }
    if (set.size() == ways) {
      std::erase(data, set.front());
      set.pop_front();
    }
    if (data.size() == data_lines) {
      std::erase(tags[set_of(data.front())], data.front());
      data.pop_front();
    }
    set.push_back(line);
    data.push_back(line);
    return true;
  }
};

SetLayout find_layout(const TagsBeforeData& cache, std::uint64_t seed) {
  const LinePool space{
      .line_bytes = 128, .span_bytes = 1 << 20, .cached_lines = cache.data_lines, .seed = seed};
  const MissOracle ask = [&](std::span<const Lines> lists) {
    std::vector<MissCounts> answers;
    for (const Lines& lines : lists) answers.push_back(cache.chase(lines));
    return answers;
  };
  return find_set_layout(space, ask);
}

TEST(MoreTagsTest, sets_are_found_though_the_data_fill_first) {
  for (const std::uint64_t seed : {1, 2, 3}) {
    const SetLayout found = find_layout({}, seed);
    EXPECT_EQ(found.ways_per_set, std::vector<std::uint32_t>(8, 64)) << found.reason;
  }
}

TEST(MoreTagsTest, one_set_stays_one) {
  const SetLayout found = find_layout({.sets = 1, .ways = 48, .data_lines = 48}, 1);
  EXPECT_EQ(found.ways_per_set, std::vector<std::uint32_t>{48}) << found.reason;
}

}  // namespace
}  // namespace sonde
