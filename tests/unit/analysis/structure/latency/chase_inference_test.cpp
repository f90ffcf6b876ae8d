// What chases show, on traces made by a small cache of known structure: medians, misses, blocks,
// the end of hits on a return pass, hit thresholds.
#include "analysis/structure/capacity/miss_blocks.hpp"
#include "analysis/structure/latency/chase_latencies.hpp"
#include "analysis/structure/latency/hit_classes.hpp"
#include "base/random.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>

namespace sonde {
namespace {

/// LRU sets of lines; sector_bytes of a line arrive on their own.
class SmallCache {
 public:
  SmallCache(std::vector<std::size_t> ways_of_set, std::uint64_t line_bytes,
             std::uint64_t sector_bytes)
      : ways_of_set_(std::move(ways_of_set)),
        line_bytes_(line_bytes),
        sector_bytes_(sector_bytes),
        sets_(ways_of_set_.size()) {}

  bool access(std::uint64_t address) {
    const std::uint64_t line = address / line_bytes_;
    const std::size_t set = line % sets_.size();
    const std::uint64_t sector = 1ULL << (address % line_bytes_ / sector_bytes_);
    auto& lines = sets_[set];
    const auto found = std::find_if(lines.begin(), lines.end(),
                                    [=](const Line& held) { return held.line == line; });
    Line held{line, 0};
    if (found != lines.end()) {
      held = *found;
      lines.erase(found);
    } else if (lines.size() == ways_of_set_[set]) {
      lines.pop_back();
    }
    const bool hit = (held.sectors & sector) != 0;
    held.sectors |= sector;
    lines.push_front(held);
    return hit;
  }

 private:
  struct Line {
    std::uint64_t line;
    std::uint64_t sectors;
  };
  std::vector<std::size_t> ways_of_set_;
  std::uint64_t line_bytes_;
  std::uint64_t sector_bytes_;
  std::vector<std::deque<Line>> sets_;
};

constexpr double hit_cycles = 80;
constexpr double miss_cycles = 350;
constexpr double threshold_cycles = 200;

/// Passes over 0, step, ... with jitter and one outlier in two hundred.
ChaseLatencies chase(SmallCache& cache, std::size_t positions, std::uint64_t step_bytes,
                     std::size_t warmup_passes, std::size_t passes, std::uint64_t seed) {
  Random random(seed);
  ChaseLatencies result{positions, {}};
  for (std::size_t pass = 0; pass < warmup_passes + passes; ++pass) {
    for (std::size_t i = 0; i < positions; ++i) {
      double cycles = cache.access(i * step_bytes) ? hit_cycles : miss_cycles;
      cycles += static_cast<double>(random.below(3)) - 1;
      if (random.below(200) == 0) cycles += 300;
      if (pass >= warmup_passes) result.cycles.push_back(cycles);
    }
  }
  return result;
}

TEST(ChaseInferenceTest, a_fitting_footprint_has_no_position_that_misses_twice) {
  SmallCache cache(std::vector<std::size_t>(32, 4), 128, 128);

  const ChaseLatencies fits = chase(cache, 128, 128, 1, 8, 1);

  EXPECT_GT(fraction_above(fits, threshold_cycles), 0);  // outliers
  EXPECT_EQ(count_set(positions_above(fits, threshold_cycles, 2)), 0U);
}

TEST(ChaseInferenceTest, one_line_too_many_makes_its_set_miss) {
  SmallCache cache(std::vector<std::size_t>(32, 4), 128, 128);

  const ChaseLatencies overflows = chase(cache, 129, 128, 2, 8, 1);

  const std::vector<bool> missing = positions_above(overflows, threshold_cycles, 4);
  EXPECT_EQ(count_set(missing), 5U);
  for (std::size_t line : {0u, 32u, 64u, 96u, 128u}) EXPECT_TRUE(missing[line]) << line;
}

TEST(ChaseInferenceTest, medians_hide_outliers) {
  ChaseLatencies seen{2, {80, 350, 80, 350, 400, 350}};

  EXPECT_EQ(position_medians(seen), (std::vector<double>{80, 350}));
}

TEST(ChaseInferenceTest, a_band_of_misses_leaves_out_most_outliers) {
  const ChaseLatencies seen{3, {80, 350, 300, 80, 352, 420}};

  EXPECT_EQ(count_set(positions_above(seen, threshold_cycles, 1)), 2U);
  EXPECT_EQ(positions_between(seen, 340, 360, 1), (std::vector<bool>{false, true, false}));
}

TEST(MissBlocksTest, first_accesses_show_what_a_miss_brings) {
  SmallCache cache(std::vector<std::size_t>(32, 4), 128, 32);

  const ChaseLatencies cold = chase(cache, 512, 8, 0, 1, 3);

  const auto fetch = miss_distance(positions_above(cold, threshold_cycles, 1), 8);
  ASSERT_TRUE(fetch.has_value());
  EXPECT_EQ(fetch->bytes, 32U);
  EXPECT_GT(fetch->agreement, 0.9);
}

TEST(MissBlocksTest, fewer_than_two_misses_tell_no_distance) {
  EXPECT_FALSE(miss_distance({true, false, false}, 8).has_value());
}

TEST(ReturnTest, hits_end_where_an_lru_cache_ends) {
  SmallCache cache(std::vector<std::size_t>(64, 16), 128, 128);
  const std::size_t lines = 64 * 16;
  std::vector<bool> hits;
  for (std::size_t i = 0; i < 2 * lines; ++i) cache.access(i * 128);
  for (std::size_t i = 2 * lines; i-- > lines / 2;) hits.push_back(cache.access(i * 128));
  hits[17] = false;  // an outlier

  const HitBoundary boundary = find_hit_boundary(hits);

  EXPECT_EQ(boundary.position, lines);
  EXPECT_GT(boundary.agreement, 0.998);
}

TEST(ReturnTest, lines_found_again_are_the_size_of_unequal_sets) {
  // Ten sets of 14 ways and four of 13, in no order: Meltzer 2013, in small.
  SmallCache cache({13, 14, 14, 13, 14, 14, 14, 13, 14, 14, 13, 14, 14, 14}, 32, 32);
  const std::size_t capacity = 10 * 14 + 4 * 13;
  std::size_t residents = 0;
  for (std::size_t i = 0; i < 2 * capacity; ++i) cache.access(i * 32);
  for (std::size_t i = 2 * capacity; i-- > 0;) residents += cache.access(i * 32) ? 1 : 0;

  EXPECT_EQ(residents, capacity);
}

TEST(ReturnTest, a_soft_end_has_little_agreement) {
  Random random(5);
  std::vector<bool> hits(4000);
  for (std::size_t i = 0; i < hits.size(); ++i) hits[i] = random.below(hits.size()) > i;

  EXPECT_LT(find_hit_boundary(hits).agreement, 0.9);
}

/// Of a memory-side cache the first misses came at half its size, and hits all around there.
TEST(ReturnTest, hits_that_end_beyond_the_positions_are_no_step) {
  std::vector<bool> hits(1000, true);
  EXPECT_EQ(find_hit_boundary(hits).agreement, 0);
  hits.back() = false;  // an outlier
  EXPECT_EQ(find_hit_boundary(hits).agreement, 0);
  EXPECT_EQ(find_hit_boundary(std::vector<bool>(1000, false)).agreement, 0);
  EXPECT_EQ(find_hit_boundary({}).agreement, 0);
}

TEST(HitClassesTest, threshold_lies_in_the_gap) {
  const auto classes = separate_hits({80, 81, 79, 80, 500}, {350, 351, 349, 350}, 8);

  ASSERT_FALSE(classes.has_value());  // one in five is no outlier
  std::vector<double> hits(200, 80);
  hits[7] = 500;
  const auto clean = separate_hits(hits, std::vector<double>(50, 350), 8);
  ASSERT_TRUE(clean.has_value());
  EXPECT_EQ(clean->hit_cycles, 80);
  EXPECT_EQ(clean->threshold_cycles, 215);
}

TEST(HitClassesTest, equal_classes_are_no_cache) {
  EXPECT_FALSE(separate_hits({440, 441, 439}, {440, 441, 442}, 8).has_value());
}

TEST(MemoryLatencyTest, two_sides_give_their_middle) {
  std::vector<double> cycles(60, 600);
  cycles.insert(cycles.end(), 40, 750);

  const MemoryLatency memory = summarize_memory_latency(cycles);

  EXPECT_EQ(memory.near_cycles, 600);
  EXPECT_EQ(memory.far_cycles, 750);
  EXPECT_EQ(memory.cycles, 675);
}

TEST(MemoryLatencyTest, one_side_gives_its_median) {
  const MemoryLatency memory = summarize_memory_latency({383, 384, 385, 384, 383, 385, 384, 2000});

  EXPECT_EQ(memory.cycles, 384);
  EXPECT_EQ(memory.far_cycles, 0);
}

}  // namespace
}  // namespace sonde
