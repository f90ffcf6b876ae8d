// Lines distinguished by conflicts, in toy caches of parts of lines.
#include "analysis/structure/sets/line_search.hpp"

#include "base/random.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

namespace sonde {
namespace {

enum class ToyPolicy { lru, random };

/// Sets of `ways` lines, each line with sectors that arrive on their own.
struct SectoredToy {
  std::uint64_t line_bytes = 128;
  std::uint64_t sector_bytes = 32;
  std::size_t ways = 4;
  std::function<std::uint64_t(std::uint64_t)> set_of = {};
  ToyPolicy policy = ToyPolicy::lru;
  double outliers = 0;  // share of accesses
  Random random{3};

  struct Line {
    std::uint64_t tag = 0;
    std::set<std::uint64_t> sectors;
  };

  bool access(std::vector<Line>& set, std::uint64_t address) {
    const std::uint64_t tag = address / line_bytes;
    const std::uint64_t sector = address / sector_bytes;
    const auto at =
        std::find_if(set.begin(), set.end(), [&](const Line& l) { return l.tag == tag; });
    if (at != set.end()) {
      if (policy == ToyPolicy::lru) std::rotate(at, at + 1, set.end());
      Line& line = policy == ToyPolicy::lru ? set.back() : *at;
      return line.sectors.insert(sector).second;
    }
    if (set.size() == ways) {
      set.erase(set.begin() +
                (policy == ToyPolicy::lru ? 0 : static_cast<std::ptrdiff_t>(random.below(ways))));
    }
    set.push_back({tag, {sector}});
    return true;
  }

  MissCounts chase(const Lines& list) {
    constexpr std::uint32_t passes = 8;
    std::map<std::uint64_t, std::vector<Line>> sets;
    MissCounts counts{std::vector<std::uint32_t>(list.size()), passes, 0};
    for (std::uint32_t pass = 0; pass < 2 * passes; ++pass) {
      bool missed_any = false;
      for (std::size_t i = 0; i < list.size(); ++i) {
        const bool missed = access(sets[set_of(list[i])], list[i]) || random.unit() < outliers;
        if (pass < passes) continue;
        counts.misses[i] += missed;
        missed_any = missed_any || missed;
      }
      counts.passes_with_misses += missed_any;
    }
    return counts;
  }

  MissOracle oracle() {
    return [this](std::span<const Lines> lists) {
      std::vector<MissCounts> answers;
      for (const Lines& list : lists) answers.push_back(chase(list));
      return answers;
    };
  }
};

LineByConflicts find_line_of(SectoredToy toy) {
  Lines pool;
  for (std::uint64_t line = 0; line < 1024; ++line) pool.push_back(line * 5 % 1024 * 1024);
  std::string reason;
  const auto conflict = find_eviction_set(pool, toy.oracle(), reason);
  EXPECT_TRUE(conflict) << reason;
  return conflict ? find_line(*conflict, toy.sector_bytes, 1024, toy.oracle()) : LineByConflicts{};
}

TEST(LineSearchTest, finds_lines_of_direct_mapped_caches) {
  for (std::uint64_t line_bytes : {32, 64, 128, 256, 512, 1024}) {
    SectoredToy toy{.line_bytes = line_bytes, .sector_bytes = 32, .ways = 1};
    toy.set_of = [=](std::uint64_t a) { return a / line_bytes % 64; };
    const LineByConflicts line = find_line_of(toy);
    EXPECT_EQ(line.bytes, line_bytes);
    EXPECT_EQ(line.agreement, 1);
  }
}

TEST(LineSearchTest, tells_neighbours_that_share_a_set_from_one_line) {
  SectoredToy toy{.line_bytes = 64, .sector_bytes = 64, .ways = 4};
  toy.set_of = [](std::uint64_t a) { return a / 256 % 16; };
  EXPECT_EQ(find_line_of(toy).bytes, 64U);
}

TEST(LineSearchTest, finds_lines_under_a_hash_of_every_bit) {
  SectoredToy toy{.line_bytes = 128, .sector_bytes = 32, .ways = 2};
  toy.set_of = [](std::uint64_t a) {
    std::uint64_t set = 0;
    for (std::uint64_t mask : {0x20080, 0xa0100, 0x30200, 0x40400, 0x10800, 0x1000}) {
      set = 2 * set + static_cast<std::uint64_t>(__builtin_parityll(a & mask));
    }
    return set;
  };
  EXPECT_EQ(find_line_of(toy).bytes, 128U);
}

TEST(LineSearchTest, finds_lines_under_random_replacement_and_outliers) {
  SectoredToy toy{.line_bytes = 256, .sector_bytes = 64, .ways = 6, .policy = ToyPolicy::random};
  toy.set_of = [](std::uint64_t a) { return a / 256 % 24; };
  toy.outliers = 1e-3;
  const LineByConflicts line = find_line_of(toy);
  EXPECT_EQ(line.bytes, 256U);
  EXPECT_GT(line.agreement, 0.7);
}

TEST(LineSearchTest, takes_no_pages_for_lines) {
  SectoredToy pages{.line_bytes = 4096, .sector_bytes = 4096, .ways = 4};
  pages.set_of = [](std::uint64_t a) { return a / 4096 % 4; };

  EXPECT_LE(find_line_of(pages).agreement, 0.5) << "no better than by chance";
}

}  // namespace
}  // namespace sonde
