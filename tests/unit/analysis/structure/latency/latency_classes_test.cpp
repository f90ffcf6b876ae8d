// Classes of latency from chases through growing footprints.
#include "analysis/structure/latency/latency_classes.hpp"

#include <gtest/gtest.h>

namespace sonde {
namespace {

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
