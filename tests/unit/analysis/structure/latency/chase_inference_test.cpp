// What chases show: the end of hits on a return pass, hit thresholds, classes of latency.
#include "analysis/structure/latency/chase_latencies.hpp"
#include "analysis/structure/latency/latency_classes.hpp"
#include "base/random.hpp"

#include <gtest/gtest.h>

namespace sonde {
namespace {

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
  EXPECT_EQ(*clean, 215);
}

FootprintChase chase(const std::vector<std::pair<int, double>>& parts) {
  FootprintChase made;
  for (const auto& [count, cycles] : parts) {
    for (int i = 0; i < count; ++i) made.cycles.push_back(cycles + i % 3);
  }
  return made;
}

TEST(LatencyLevelsTest, an_even_mixture_shows_both) {
  EXPECT_EQ(find_latency_classes({chase({{50, 8}, {50, 81}})}, 12).size(), 2U);
  EXPECT_TRUE(find_latency_classes({chase({{34, 8}, {33, 81}, {33, 220}})}, 12).empty());
}

}  // namespace
}  // namespace sonde
