// Maps of latencies with and without two sides.
#include "analysis/structure/latency/two_sides.hpp"

#include "base/random.hpp"

#include <gtest/gtest.h>

#include <cstddef>

namespace sonde {
namespace {

struct Chip {
  std::vector<int> side_of_sm;
  std::vector<int> side_of_slice;
  double far_cycles = 0;
  double spread_cycles = 0;
};

Chip draw_chip(std::size_t sms, std::size_t slices, double far_cycles, Random& random) {
  Chip chip{.side_of_sm = {}, .side_of_slice = {}, .far_cycles = far_cycles, .spread_cycles = 10};
  for (std::size_t sm = 0; sm < sms; ++sm) {
    chip.side_of_sm.push_back(sm == 0 ? 0 : static_cast<int>(random.below(2)));
  }
  for (std::size_t slice = 0; slice < slices; ++slice) {
    chip.side_of_slice.push_back(static_cast<int>(random.below(2)));
  }
  return chip;
}

/// Shares of SM and slice, the way to the other side, and noise.
std::vector<std::vector<double>> measure(const Chip& chip, Random& random) {
  std::vector<double> of_slice;
  for (std::size_t i = 0; i < chip.side_of_slice.size(); ++i) {
    of_slice.push_back(chip.spread_cycles * random.unit());
  }
  std::vector<std::vector<double>> map;
  for (const int side : chip.side_of_sm) {
    std::vector<double>& row = map.emplace_back();
    const double of_sm = 260 + chip.spread_cycles * random.unit();
    for (std::size_t i = 0; i < of_slice.size(); ++i) {
      const double way = chip.side_of_slice[i] == side ? 0 : chip.far_cycles;
      row.push_back(of_sm + of_slice[i] + way + 8 * (random.unit() - 0.5));
    }
  }
  return map;
}

TEST(TwoSidesTest, sides_and_the_way_between_them_come_back) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Random random(seed);
    const Chip chip = draw_chip(40 + random.below(100), 8 + random.below(90), 31, random);

    const TwoSides sides = find_two_sides(measure(chip, random));

    EXPECT_EQ(sides.side_of_row, chip.side_of_sm) << seed;
    EXPECT_EQ(sides.side_of_column, chip.side_of_slice) << seed;
    EXPECT_NEAR(sides.far_cycles, 31, 1) << seed;
  }
}

TEST(TwoSidesTest, shares_of_sms_and_slices_are_no_sides) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Random random(seed);
    const Chip chip = draw_chip(40 + random.below(100), 8 + random.below(90), 0, random);
    EXPECT_TRUE(find_two_sides(measure(chip, random)).side_of_row.empty()) << seed;
  }
}

/// GPCs that each are near to slices of their own.
TEST(TwoSidesTest, many_places_are_no_two_sides) {
  Random random(3);
  std::vector<std::vector<double>> map;
  for (int sm = 0; sm < 96; ++sm) {
    std::vector<double>& row = map.emplace_back();
    for (int slice = 0; slice < 48; ++slice) {
      row.push_back(sm % 8 == slice % 8 ? 240 : 270 + 2 * random.unit());
    }
  }
  EXPECT_TRUE(find_two_sides(map).side_of_row.empty());
}

}  // namespace
}  // namespace sonde
