// Classes of latency from chases through growing footprints.
#include "analysis/structure/latency/latency_classes.hpp"

#include <gtest/gtest.h>

namespace sonde {
namespace {

FootprintChase chase(std::uint64_t span_bytes, const std::vector<std::pair<int, double>>& parts) {
  FootprintChase made{span_bytes, {}};
  for (const auto& [count, cycles] : parts) {
    for (int i = 0; i < count; ++i) made.cycles.push_back(cycles + i % 3);
  }
  return made;
}

TEST(LatencyLevelsTest, an_even_mixture_shows_both) {
  EXPECT_EQ(find_latency_classes({chase(1024, {{50, 8}, {50, 81}})}, 12).size(), 2U);
  EXPECT_TRUE(find_latency_classes({chase(1024, {{34, 8}, {33, 81}, {33, 220}})}, 12).empty());
}

TEST(LatencyLevelsTest, what_serves_a_tenth_of_many_footprints_is_a_class_of_its_own) {
  const std::vector<FootprintChase> chases = {
      chase(1024, {{100, 8}}),           chase(2048, {{20, 33}, {80, 81}}),
      chase(3072, {{15, 33}, {85, 81}}), chase(4096, {{12, 33}, {88, 81}}),
      chase(6144, {{11, 34}, {89, 81}}), chase(8192, {{4, 33}, {50, 81}, {46, 220}})};

  EXPECT_EQ(find_latency_classes(chases, 12).size(), 2U);
  const auto classes = find_passing_classes(chases, 12);
  ASSERT_EQ(classes.size(), 3U) << "the slowest serves less than half of one chase alone";
  EXPECT_EQ(classes[1].cycles.size(), 58U);
  EXPECT_EQ(classes[2].low_cycles, 81);
}

/// What it serves of each may be little, if it serves so much of many.
TEST(LatencyLevelsTest, what_serves_little_of_very_many_footprints_is_a_class_of_its_own) {
  std::vector<FootprintChase> chases = {chase(1024, {{100, 8}})};
  for (std::uint64_t span_bytes = 2048; chases.size() < 8; span_bytes += 1024)
    chases.push_back(chase(span_bytes, {{4, 33}, {96, 81}}));

  EXPECT_EQ(find_passing_classes(chases, 12).size(), 2U) << "of seven";
  chases.push_back(chase(65536, {{4, 33}, {96, 81}}));
  EXPECT_EQ(find_passing_classes(chases, 12).size(), 3U) << "of eight";
  for (FootprintChase& of_span : chases) of_span = chase(of_span.span_bytes, {{2, 33}, {98, 81}});
  EXPECT_EQ(find_passing_classes(chases, 12).size(), 1U) << "outliers";
}

}  // namespace
}  // namespace sonde
