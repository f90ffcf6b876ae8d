// The job topology finds TPCs and GPCs of shipped and of drawn chips, and says so where it cannot.
#include "sim/floor_map_score.hpp"

#include <gtest/gtest.h>

namespace sonde {
namespace {

using test::MapScore;

/// The 200 of the score are drawn by tests/bench/score_floor_maps; these are a part of them.
TEST(TopologySimTest, maps_of_drawn_chips_are_exact) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const test::FloorMapScore score = test::score_floor_map(seed);
    EXPECT_EQ(score.gpcs, MapScore::exact) << score.text;
    EXPECT_LE(score.tpcs, MapScore::none) << score.text;
  }
}

}  // namespace
}  // namespace sonde
