// Who leaves a full set, by policy.
#include "cache_array_support.hpp"

#include <gtest/gtest.h>

#include <list>
#include <map>

namespace sonde::sim {
namespace {

/// Hits of a few late passes over `lines` lines.
int cyclic_hits(CacheArray& cache, std::uint64_t lines) {
  int hits = 0;
  for (int pass = 0; pass < 40; ++pass) {
    for (std::uint64_t line = 0; line < lines; ++line) {
      hits += cache.access(line * line_bytes) && pass >= 20 ? 1 : 0;
    }
  }
  return hits;
}

/// A set of four lines that were filled and used in this order, and who left it.
struct Used {
  DeclaredPolicy policy;
  std::string lines, kept, gone;
};

class UsedSetTest : public testing::TestWithParam<Used> {};

TEST_P(UsedSetTest, loses_the_line_that_its_policy_says) {
  const Used& used = GetParam();
  CacheArray cache = make_cache(used.policy, 1, 4);
  misses(cache, used.lines);
  EXPECT_EQ(misses(cache, used.kept), "");
  EXPECT_EQ(misses(cache, used.gone), used.gone);
}

INSTANTIATE_TEST_SUITE_P(replacement, UsedSetTest,
                         testing::Values(
                             // The root of the tree points to the right half, there to C.
                             Used{DeclaredPolicy::tree_plru, "ABCDAE", "ABDE", "C"},
                             // D cleared all other bits, A set its own again.
                             Used{DeclaredPolicy::nru, "ABCDAE", "ACDE", "B"},
                             // The hand passes all, E replaces A; B is passed, F replaces C.
                             Used{DeclaredPolicy::clock, "ABCDEBF", "BDEF", "C"},
                             Used{DeclaredPolicy::srrip, "ABCDAE", "ACDE", "B"}));

TEST(ReplacementTest, tree_plru_keeps_within_ways_that_are_no_power_of_two) {
  CacheArray cache = make_cache(DeclaredPolicy::tree_plru, 1, 6);
  misses(cache, "ABCDEF");
  EXPECT_EQ(misses(cache, "ABCDEF"), "");
  EXPECT_GT(cyclic_hits(cache, 7), 0);
}

TEST(ReplacementTest, brrip_keeps_a_part_of_what_does_not_fit) {
  CacheArray srrip = make_cache(DeclaredPolicy::srrip, 4, 8);
  CacheArray brrip = make_cache(DeclaredPolicy::brrip, 4, 8);
  EXPECT_EQ(cyclic_hits(srrip, 4 * 12), 0);
  EXPECT_GT(cyclic_hits(brrip, 4 * 12), 200);
}

/// A set with guarded lru, as lists of lines.
class GuardedSet {
 public:
  explicit GuardedSet(std::size_t ways) : ways_(ways) {}

  bool access(std::uint64_t line) {
    if (std::find(order_.begin(), order_.end(), line) != order_.end()) {
      guarded_.push_front(line);
      if (guarded_.size() > 2) {
        const std::uint64_t released = guarded_.back();
        guarded_.pop_back();
        if (!is_guarded(released)) renew(released);
      }
      return true;
    }
    if (order_.size() == ways_) evict();
    order_.push_front(line);
    return false;
  }

 private:
  bool is_guarded(std::uint64_t line) const {
    return std::find(guarded_.begin(), guarded_.end(), line) != guarded_.end();
  }
  void renew(std::uint64_t line) {
    order_.remove(line);
    order_.push_front(line);
  }
  void evict() {
    auto victim = std::find_if(order_.rbegin(), order_.rend(),
                               [this](std::uint64_t line) { return !is_guarded(line); });
    const std::uint64_t line = victim == order_.rend() ? guarded_.back() : *victim;
    order_.remove(line);
    guarded_.remove(line);
  }

  std::size_t ways_;
  std::list<std::uint64_t> order_;    // newest first
  std::list<std::uint64_t> guarded_;  // the last two hits, latest first
};

TEST(ReplacementTest, guarded_lru_of_any_associativity_agrees_with_lists) {
  for (std::uint32_t ways : {1u, 2u, 3u, 4u, 14u, 15u, 16u, 40u}) {
    CacheArray cache = make_cache(DeclaredPolicy::guarded_lru, 1, ways);
    GuardedSet reference(ways);
    Random random(ways);
    for (int i = 0; i < 20000; ++i) {
      const std::uint64_t line = random.below(ways + ways / 2 + 2);
      ASSERT_EQ(cache.access(line * line_bytes), reference.access(line))
          << ways << " ways, access " << i;
    }
  }
}

TEST(ReplacementTest, set_duelling_ends_with_the_better_policy) {
  CacheArray cache = make_cache(DeclaredPolicy::set_duelling, 64, 8);
  // 62 of 64 sets come over to BRRIP; its leaders alone would be 2.
  EXPECT_GT(cyclic_hits(cache, 64 * 12), 20 * 12 * 10);
}

/// How often each of four lines left for a fifth in 600 runs.
std::map<char, int> evictions(DeclaredPolicy policy, const std::vector<double>& weights) {
  CacheArray cache = make_cache(policy, 1, 4, weights);
  std::map<char, int> evicted;
  for (int i = 0; i < 600; ++i) {
    cache.clear(static_cast<std::uint64_t>(i));
    misses(cache, "ABCDE");
    for (char letter : std::string("ABCD")) {
      evicted[letter] += cache.contains(static_cast<std::uint64_t>(letter) * line_bytes) ? 0 : 1;
    }
  }
  return evicted;
}

TEST(ReplacementTest, random_victims_are_spread_evenly_or_by_their_weight) {
  for (auto [letter, times] : evictions(DeclaredPolicy::random, {})) EXPECT_NEAR(times, 150, 45);
  auto weighted = evictions(DeclaredPolicy::weighted_ways, {1, 3, 1, 1});
  EXPECT_NEAR(weighted['B'], 300, 45);
  for (char letter : std::string("ACD")) EXPECT_NEAR(weighted[letter], 100, 35) << letter;
}

TEST(ReplacementTest, sets_of_any_associativity_agree_with_a_list) {
  for (std::uint32_t ways : {1u, 3u, 16u, 192u}) {
    for (DeclaredPolicy policy : {DeclaredPolicy::lru, DeclaredPolicy::fifo}) {
      CacheArray cache = make_cache(policy, 1, ways);
      std::list<std::uint64_t> reference;
      Random random(7);
      for (int i = 0; i < 20000; ++i) {
        const std::uint64_t line = random.below(ways + ways / 2 + 2);
        const auto found = std::find(reference.begin(), reference.end(), line);
        const bool expected = found != reference.end();
        if (expected && policy == DeclaredPolicy::lru) reference.erase(found);
        if (!expected || policy == DeclaredPolicy::lru) reference.push_front(line);
        if (reference.size() > ways) reference.pop_back();
        ASSERT_EQ(cache.access(line * line_bytes), expected) << ways << " ways, access " << i;
      }
    }
  }
}

}  // namespace
}  // namespace sonde::sim
