// Units that are slower than their peers are named, and healthy ones are not.
#include "analysis/structure/cores/slow_units.hpp"

#include "support/draws.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace sonde {
namespace {

UnitMap map_of(std::size_t units, double center, double scatter, std::uint64_t seed) {
  Random random(seed);
  UnitMap map{.what = "L1 latency", .unit = "cycles", .floor = 0.25, .values = {}};
  for (std::size_t i = 0; i < units; ++i)
    map.values.push_back(center + scatter * test::gauss(random));
  return map;
}

TEST(SlowUnitsTest, an_sm_three_cycles_slower_is_named_on_chips_of_any_size) {
  for (std::size_t sms : {8u, 16u, 132u}) {
    UnitMap map = map_of(sms, 31, 0.05, sms);
    map.values[5] += 3;
    const auto slow = find_slow_units(map);
    ASSERT_EQ(slow.size(), 1u) << sms;
    EXPECT_EQ(slow[0].number, 5);
    EXPECT_NEAR(slow[0].fraction, 3.0 / 31, 0.005);
    EXPECT_GT(slow[0].confidence, 0.999);
  }
}

TEST(SlowUnitsTest, healthy_maps_name_nobody) {
  int named = 0;
  for (std::uint64_t seed = 1; seed <= 2000; ++seed) {
    for (const auto& [units, scatter] : {std::pair{8u, 3.0}, {66u, 6.0}, {132u, 6.0}}) {
      named += find_slow_units(map_of(units, 100, scatter, seed)).empty() ? 0 : 1;
    }
  }
  EXPECT_LE(named, 6) << "of 6000 maps, of which fewer than one in 1000 may";
}

TEST(SlowUnitsTest, a_slow_port_is_below_its_peers) {
  UnitMap map = map_of(66, 54.5, 0.1, 2);
  map.better = Better::higher;
  map.values[31] *= 0.9;
  map.values[40] *= 1.1;
  const auto slow = find_slow_units(map);
  ASSERT_EQ(slow.size(), 1u) << "a faster one is no defect";
  EXPECT_EQ(slow[0].number, 31);
  EXPECT_NEAR(slow[0].fraction, 0.1, 0.01);
}

TEST(SlowUnitsTest, many_far_ones_are_how_the_chip_is_built) {
  UnitMap map = map_of(132, 280, 1, 3);
  for (std::size_t sm = 0; sm < 16; ++sm) map.values[sm] += 30;
  EXPECT_TRUE(find_slow_units(map).empty());
}

TEST(SlowUnitsTest, unknown_values_and_tiny_chips_say_nothing) {
  UnitMap map = map_of(16, 31, 0.05, 5);
  map.values[3] = NAN;
  EXPECT_TRUE(find_slow_units(map).empty());
  map.values = {31, 31, 40};
  EXPECT_TRUE(find_slow_units(map).empty());
}

}  // namespace
}  // namespace sonde
