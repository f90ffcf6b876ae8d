#include "device/sim/memory/cache_array.hpp"

#include <gtest/gtest.h>

#include <list>
#include <map>

namespace sonde::sim {
namespace {

constexpr std::uint64_t line_bytes = 128;

/// One cache of equal sets that follow each other line by line.
CacheArray make_cache(DeclaredPolicy policy, std::uint32_t sets, std::uint32_t ways,
                      std::vector<double> weights = {}, WritePolicy write_policy = {}) {
  CacheModel model;
  model.write_policy = write_policy;
  model.line_bytes = model.sector_bytes = model.fetch_bytes = line_bytes;
  Geometry geometry;
  geometry.ways_per_set.assign(sets, ways);
  geometry.index.kind = DeclaredIndex::Kind::modulo;
  geometry.index.granularity_bytes = line_bytes;
  geometry.replacement = {policy, std::move(weights)};
  CacheArray cache(model, geometry);
  cache.clear(1);
  return cache;
}

/// Reads lines named by letters; gives the letters that missed.
std::string misses(CacheArray& cache, const std::string& lines) {
  std::string missed;
  for (char letter : lines) {
    if (!cache.access(static_cast<std::uint64_t>(letter) * line_bytes)) missed += letter;
  }
  return missed;
}

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

TEST(CacheArrayTest, lru_evicts_what_was_used_longest_ago) {
  CacheArray cache = make_cache(DeclaredPolicy::lru, 1, 2);
  EXPECT_EQ(misses(cache, "ABAC"), "ABC");
  EXPECT_EQ(misses(cache, "A"), "");
  EXPECT_EQ(misses(cache, "B"), "B");
}

TEST(CacheArrayTest, fifo_evicts_what_came_first) {
  CacheArray cache = make_cache(DeclaredPolicy::fifo, 1, 2);
  EXPECT_EQ(misses(cache, "ABAC"), "ABC");
  EXPECT_EQ(misses(cache, "B"), "");
  EXPECT_EQ(misses(cache, "A"), "A");
}

TEST(CacheArrayTest, tree_plru_follows_the_tree_away_from_the_last_use) {
  CacheArray cache = make_cache(DeclaredPolicy::tree_plru, 1, 4);
  misses(cache, "ABCDAE");  // the root points to the right half, there to C
  EXPECT_EQ(misses(cache, "ABDE"), "");
  EXPECT_EQ(misses(cache, "C"), "C");
}

TEST(CacheArrayTest, tree_plru_keeps_within_ways_that_are_no_power_of_two) {
  CacheArray cache = make_cache(DeclaredPolicy::tree_plru, 1, 6);
  misses(cache, "ABCDEF");
  EXPECT_EQ(misses(cache, "ABCDEF"), "");
  EXPECT_GT(cyclic_hits(cache, 7), 0);
}

TEST(CacheArrayTest, nru_evicts_the_first_unused_way) {
  CacheArray cache = make_cache(DeclaredPolicy::nru, 1, 4);
  misses(cache, "ABCDAE");  // D cleared all other bits, A set its own again
  EXPECT_EQ(misses(cache, "ACDE"), "");
  EXPECT_EQ(misses(cache, "B"), "B");
}

TEST(CacheArrayTest, clock_gives_a_second_chance) {
  CacheArray cache = make_cache(DeclaredPolicy::clock, 1, 4);
  misses(cache, "ABCDE");  // the hand passes all, E replaces A
  misses(cache, "BF");     // B is passed, F replaces C
  EXPECT_EQ(misses(cache, "BDEF"), "");
  EXPECT_EQ(misses(cache, "C"), "C");
}

TEST(CacheArrayTest, srrip_prefers_what_was_not_used_again) {
  CacheArray cache = make_cache(DeclaredPolicy::srrip, 1, 4);
  misses(cache, "ABCDAE");
  EXPECT_EQ(misses(cache, "ACDE"), "");
  EXPECT_EQ(misses(cache, "B"), "B");
}

TEST(CacheArrayTest, brrip_keeps_a_part_of_what_does_not_fit) {
  CacheArray srrip = make_cache(DeclaredPolicy::srrip, 4, 8);
  CacheArray brrip = make_cache(DeclaredPolicy::brrip, 4, 8);
  EXPECT_EQ(cyclic_hits(srrip, 4 * 12), 0);
  EXPECT_GT(cyclic_hits(brrip, 4 * 12), 200);
}

bool holds(CacheArray& cache, char letter) {
  return cache.contains(static_cast<std::uint64_t>(letter) * line_bytes);
}

TEST(CacheArrayTest, guarded_lru_keeps_the_lines_of_the_last_two_hits) {
  CacheArray cache = make_cache(DeclaredPolicy::guarded_lru, 1, 4);
  misses(cache, "ABCDAE");
  EXPECT_FALSE(holds(cache, 'B')) << "A is older, but guarded";
  misses(cache, "CDF");
  EXPECT_TRUE(holds(cache, 'A')) << "pushed out of the guard, so the youngest";
  EXPECT_FALSE(holds(cache, 'E'));
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

TEST(CacheArrayTest, guarded_lru_of_every_width_agrees_with_lists) {
  // Narrow sets keep order and guard in one word, others by links.
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

TEST(CacheArrayTest, less_room_than_tags_lets_the_oldest_line_of_any_set_leave) {
  CacheModel model;
  model.line_bytes = model.sector_bytes = model.fetch_bytes = line_bytes;
  Geometry geometry;
  geometry.ways_per_set.assign(4, 2);
  geometry.data_lines = 3;
  geometry.index.kind = DeclaredIndex::Kind::modulo;
  geometry.index.granularity_bytes = line_bytes;
  CacheArray cache(model, geometry);
  cache.clear(1);
  for (std::uint64_t line = 0; line < 4; ++line) cache.access(line * line_bytes);
  EXPECT_FALSE(cache.contains(0));
  for (std::uint64_t line : {1, 2, 3}) EXPECT_TRUE(cache.contains(line * line_bytes)) << line;
}

TEST(CacheArrayTest, set_duelling_ends_with_the_better_policy) {
  CacheArray cache = make_cache(DeclaredPolicy::set_duelling, 64, 8);
  // 62 of 64 sets come over to BRRIP; its leaders alone would be 2.
  EXPECT_GT(cyclic_hits(cache, 64 * 12), 20 * 12 * 10);
}

TEST(CacheArrayTest, random_spreads_victims_over_all_ways) {
  CacheArray cache = make_cache(DeclaredPolicy::random, 1, 4);
  std::map<char, int> evicted;
  for (int i = 0; i < 400; ++i) {
    cache.clear(static_cast<std::uint64_t>(i));
    misses(cache, "ABCDE");
    for (char letter : std::string("ABCD")) {
      evicted[letter] += cache.contains(static_cast<std::uint64_t>(letter) * line_bytes) ? 0 : 1;
    }
  }
  for (char letter : std::string("ABCD")) EXPECT_NEAR(evicted[letter], 100, 35) << letter;
}

TEST(CacheArrayTest, weighted_ways_are_victims_by_their_weight) {
  CacheArray cache = make_cache(DeclaredPolicy::weighted_ways, 1, 4, {1, 3, 1, 1});
  std::map<char, int> evicted;
  for (int i = 0; i < 600; ++i) {
    cache.clear(static_cast<std::uint64_t>(i));
    misses(cache, "ABCDE");
    for (char letter : std::string("ABCD")) {
      evicted[letter] += cache.contains(static_cast<std::uint64_t>(letter) * line_bytes) ? 0 : 1;
    }
  }
  EXPECT_NEAR(evicted['B'], 300, 45);
  EXPECT_NEAR(evicted['A'], 100, 35);
  EXPECT_NEAR(evicted['C'], 100, 35);
  EXPECT_NEAR(evicted['D'], 100, 35);
}

TEST(CacheArrayTest, sets_may_differ_in_ways) {
  CacheModel model;
  model.line_bytes = model.sector_bytes = model.fetch_bytes = line_bytes;
  Geometry geometry;
  geometry.ways_per_set = {3, 1};
  geometry.index.kind = DeclaredIndex::Kind::modulo;
  geometry.index.granularity_bytes = line_bytes;
  CacheArray cache(model, geometry);
  cache.clear(1);

  for (std::uint64_t line : {0, 2, 4, 1, 3}) cache.access(line * line_bytes);

  for (std::uint64_t line : {0, 2, 4, 3}) EXPECT_TRUE(cache.contains(line * line_bytes)) << line;
  EXPECT_FALSE(cache.contains(1 * line_bytes));
}

TEST(CacheArrayTest, a_miss_brings_its_block_of_sectors_only) {
  CacheModel model;
  model.line_bytes = 128;
  model.sector_bytes = 32;
  model.fetch_bytes = 64;
  Geometry geometry;
  geometry.ways_per_set = {2};
  CacheArray cache(model, geometry);
  cache.clear(1);

  EXPECT_FALSE(cache.access(40));
  EXPECT_TRUE(cache.access(0));
  EXPECT_FALSE(cache.access(64));
  EXPECT_TRUE(cache.access(96));
}

TEST(CacheArrayTest, a_span_is_there_if_all_of_its_sectors_are) {
  CacheModel model;
  model.line_bytes = 128;
  model.sector_bytes = model.fetch_bytes = 32;
  Geometry geometry;
  geometry.ways_per_set = {4};
  CacheArray cache(model, geometry);
  cache.clear(1);

  cache.access(96);
  EXPECT_FALSE(cache.access(64, 64)) << "one of its two sectors";
  EXPECT_TRUE(cache.access(64));
  EXPECT_FALSE(cache.access(32)) << "outside the span";
  EXPECT_FALSE(cache.access(128 + 32, 256)) << "one of its two lines, and of that a part";
  for (std::uint64_t address = 0; address < 256; address += 32) {
    EXPECT_TRUE(cache.contains(address)) << address;
  }
  EXPECT_TRUE(cache.access(0, 256));
}

TEST(CacheArrayTest, a_span_counts_as_one_use_of_its_line) {
  CacheModel model;
  model.line_bytes = 128;
  model.sector_bytes = model.fetch_bytes = 32;
  Geometry geometry;
  geometry.ways_per_set = {2};
  geometry.replacement.policy = DeclaredPolicy::srrip;
  CacheArray cache(model, geometry);
  cache.clear(1);

  for (std::uint64_t line : {0, 1}) cache.access(line * 128, 128);
  cache.access(128);
  cache.access(2 * 128);

  EXPECT_FALSE(cache.contains(0)) << "filled, and never used again";
  EXPECT_TRUE(cache.contains(128));
}

TEST(CacheArrayTest, sets_of_every_width_agree_with_a_list) {
  // Orders packed into a word, orders by links, marks in one to eight words, and a map.
  for (std::uint32_t ways : {1u, 3u, 8u, 15u, 16u, 17u, 24u, 64u, 65u, 192u}) {
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

/// Stores to the line of a letter.
void store(CacheArray& cache, char letter) {
  cache.store(static_cast<std::uint64_t>(letter) * line_bytes);
}

TEST(CacheArrayTest, a_store_that_updates_counts_as_a_use) {
  CacheArray cache =
      make_cache(DeclaredPolicy::lru, 1, 2, {}, {StoreHit::update, StoreMiss::no_allocate});
  misses(cache, "AB");
  store(cache, 'A');
  EXPECT_EQ(misses(cache, "CA"), "C");
}

TEST(CacheArrayTest, a_store_that_is_ignored_changes_nothing) {
  CacheArray cache =
      make_cache(DeclaredPolicy::lru, 1, 2, {}, {StoreHit::ignore, StoreMiss::no_allocate});
  misses(cache, "AB");
  store(cache, 'A');
  store(cache, 'C');
  EXPECT_EQ(misses(cache, "BD"), "D");
  EXPECT_EQ(misses(cache, "A"), "A");
}

TEST(CacheArrayTest, a_store_allocates_only_if_declared) {
  CacheArray takes =
      make_cache(DeclaredPolicy::lru, 1, 2, {}, {StoreHit::update, StoreMiss::allocate});
  CacheArray leaves =
      make_cache(DeclaredPolicy::lru, 1, 2, {}, {StoreHit::update, StoreMiss::no_allocate});
  for (CacheArray* cache : {&takes, &leaves}) store(*cache, 'A');
  EXPECT_EQ(misses(takes, "A"), "");
  EXPECT_EQ(misses(leaves, "A"), "A");
}

TEST(CacheArrayTest, an_invalidated_line_leaves_a_hole_that_is_filled_first) {
  for (std::uint32_t ways : {4u, 32u}) {  // searched way by way, and mapped
    CacheArray cache = make_cache(DeclaredPolicy::lru, 1, ways, {},
                                  {StoreHit::invalidate, StoreMiss::no_allocate});
    const std::string all = std::string("ABCDEFGHIJKLMNOPQRSTUVWXYZ012345").substr(0, ways);
    misses(cache, all);
    store(cache, 'C');
    store(cache, 'c');  // not there
    EXPECT_EQ(misses(cache, "x"), "x");
    std::string rest = all;
    rest.erase(2, 1);
    EXPECT_EQ(misses(cache, rest + "x"), "") << ways;
    EXPECT_EQ(misses(cache, "C"), "C");
    EXPECT_EQ(misses(cache, "A"), "A") << "the hole was there once";
  }
}

TEST(CacheArrayTest, a_store_to_a_sector_that_is_not_there_is_a_miss) {
  CacheModel model;
  model.line_bytes = 128;
  model.sector_bytes = model.fetch_bytes = 32;
  model.write_policy = {StoreHit::invalidate, StoreMiss::no_allocate};
  Geometry geometry;
  geometry.ways_per_set = {2};
  CacheArray cache(model, geometry);
  cache.clear(1);
  cache.access(0);
  cache.store(32);
  EXPECT_TRUE(cache.contains(0));
  cache.store(8);
  EXPECT_FALSE(cache.contains(0));
}

TEST(CacheArrayTest, clearing_forgets_holes) {
  CacheArray cache =
      make_cache(DeclaredPolicy::lru, 1, 2, {}, {StoreHit::invalidate, StoreMiss::no_allocate});
  misses(cache, "AB");
  store(cache, 'A');
  cache.clear(2);
  misses(cache, "AB");
  EXPECT_EQ(misses(cache, "BC"), "C");
  EXPECT_EQ(misses(cache, "A"), "A");
}

TEST(CacheArrayTest, clearing_empties_every_set) {
  CacheArray cache = make_cache(DeclaredPolicy::lru, 8, 2);
  for (std::uint64_t line = 0; line < 16; ++line) cache.access(line * line_bytes);
  cache.clear(2);
  for (std::uint64_t line = 0; line < 16; ++line) {
    EXPECT_FALSE(cache.contains(line * line_bytes)) << line;
    EXPECT_FALSE(cache.access(line * line_bytes)) << line;
  }
}

}  // namespace
}  // namespace sonde::sim
