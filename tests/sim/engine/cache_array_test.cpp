// Lines, sectors and stores of one cache.
#include "cache_array_support.hpp"

#include "base/random.hpp"

#include <gtest/gtest.h>

namespace sonde::sim {
namespace {

/// Sets of so many ways, lines in turn.
CacheArray sectored(std::uint64_t line, std::uint64_t sector, std::uint64_t fetch,
                    const std::vector<std::uint32_t>& ways, const WritePolicy& policy = {},
                    std::uint64_t data_lines = 0) {
  CacheModel model;
  model.line_bytes = line;
  model.sector_bytes = sector;
  model.fetch_bytes = fetch;
  model.write_policy = policy;
  Geometry geometry;
  geometry.ways_per_set = ways;
  geometry.data_lines = data_lines;
  geometry.index.kind = DeclaredIndex::Kind::modulo;
  geometry.index.granularity_bytes = line;
  CacheArray cache(model, geometry);
  cache.clear(1);
  return cache;
}

TEST(CacheArrayTest, less_capacity_than_tags_lets_the_oldest_line_of_any_set_leave) {
  CacheArray cache = sectored(line_bytes, line_bytes, line_bytes, {2, 2, 2, 2}, {}, 3);
  for (std::uint64_t line = 0; line < 4; ++line) cache.access(line * line_bytes);
  EXPECT_FALSE(cache.contains(0));
  for (std::uint64_t line : {1, 2, 3}) EXPECT_TRUE(cache.contains(line * line_bytes)) << line;
}

TEST(CacheArrayTest, sets_may_differ_in_ways) {
  CacheArray cache = sectored(line_bytes, line_bytes, line_bytes, {3, 1});

  for (std::uint64_t line : {0, 2, 4, 1, 3}) cache.access(line * line_bytes);

  for (std::uint64_t line : {0, 2, 4, 3}) EXPECT_TRUE(cache.contains(line * line_bytes)) << line;
  EXPECT_FALSE(cache.contains(1 * line_bytes));
}

TEST(CacheArrayTest, a_miss_brings_its_block_of_sectors_only) {
  CacheArray cache = sectored(128, 32, 64, {2});

  EXPECT_FALSE(cache.access(40));
  EXPECT_TRUE(cache.access(0));
  EXPECT_FALSE(cache.access(64));
  EXPECT_TRUE(cache.access(96));
}

/// Loads of any span and stores under every policy: a GPU with smaller sectors answers the
/// same.
TEST(CacheArrayTest, sectors_that_come_together_are_never_seen) {
  for (const WritePolicy& policy : {WritePolicy{StoreHit::update, StoreMiss::allocate},
                                    WritePolicy{StoreHit::invalidate, StoreMiss::allocate},
                                    WritePolicy{StoreHit::update, StoreMiss::no_allocate},
                                    WritePolicy{StoreHit::invalidate, StoreMiss::no_allocate}}) {
    std::vector<CacheArray> caches;
    for (const std::uint64_t sector_bytes : {64, 32}) {
      caches.push_back(sectored(256, sector_bytes, 64, {4, 4}, policy));
    }
    Random random(1);
    for (int step = 0; step < 10000; ++step) {
      const std::uint64_t address = random.below(4096) / 4 * 4;
      const std::uint64_t kind = random.below(8);
      const std::uint64_t span_bytes = std::uint64_t{1} << random.below(8);
      std::vector<bool> hits;
      for (CacheArray& cache : caches) {
        if (kind == 0) cache.store(address);
        if (kind == 1) cache.drop(address);
        hits.push_back(kind <= 1 ? cache.contains(address) : cache.access(address, span_bytes));
      }
      ASSERT_EQ(hits[0], hits[1]) << step;
    }
  }
}

TEST(CacheArrayTest, a_span_is_there_if_all_of_its_sectors_are) {
  CacheArray cache = sectored(128, 32, 32, {4});

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

/// Stores to the line of a letter.
void store(CacheArray& cache, char letter) {
  cache.store(static_cast<std::uint64_t>(letter) * line_bytes);
}

/// What misses in a set of two ways after loads of A and B, stores to A and C, and as many loads.
std::string missed_after_stores(const WritePolicy& policy) {
  CacheArray cache = make_cache(DeclaredPolicy::lru, 1, 2, {}, policy);
  misses(cache, "AB");
  store(cache, 'A');
  store(cache, 'C');
  return misses(cache, "AC");
}

TEST(CacheArrayTest, stores_count_as_uses_and_allocate_only_if_declared) {
  EXPECT_EQ(missed_after_stores({StoreHit::update, StoreMiss::allocate}), "");
  EXPECT_EQ(missed_after_stores({StoreHit::update, StoreMiss::no_allocate}), "C");
  EXPECT_EQ(missed_after_stores({StoreHit::ignore, StoreMiss::allocate}), "A")
      << "C took the way of A, which its store had not renewed";
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
  CacheArray cache = sectored(128, 32, 32, {2}, {StoreHit::invalidate, StoreMiss::no_allocate});
  cache.access(0);
  cache.store(32);
  EXPECT_TRUE(cache.contains(0));
  cache.store(8);
  EXPECT_FALSE(cache.contains(0));
}

/// As the L2 of an H200 does (docs/results/h200.md, 2026-11-26).
TEST(CacheArrayTest, a_sector_is_there_once_each_of_its_words_was_stored) {
  CacheArray cache = sectored(128, 32, 64, {2}, {StoreHit::update, StoreMiss::allocate_stored});
  for (std::uint64_t word : {0, 8, 16}) cache.store(word);
  EXPECT_FALSE(cache.contains(0));
  cache.store(24);
  EXPECT_TRUE(cache.contains(0));
  EXPECT_FALSE(cache.contains(32)) << "nothing was fetched";
  cache.store(40);
  EXPECT_FALSE(cache.access(32));
  EXPECT_TRUE(cache.contains(32));
}

TEST(CacheArrayTest, clearing_empties_every_set_and_forgets_holes) {
  CacheArray cache =
      make_cache(DeclaredPolicy::lru, 1, 2, {}, {StoreHit::invalidate, StoreMiss::no_allocate});
  misses(cache, "AB");
  store(cache, 'A');
  cache.clear(2);
  EXPECT_EQ(misses(cache, "AB"), "AB");
  EXPECT_EQ(misses(cache, "BC"), "C");
  EXPECT_EQ(misses(cache, "A"), "A");
}

}  // namespace
}  // namespace sonde::sim
