// Sets of a TLB that lost a way to something else are like the others; sets that are really unequal
// stay.
#include "analysis/structure/sets/set_layout.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace sonde {
namespace {

TEST(EvenOutTest, one_or_two_of_very_many_sets_with_a_way_less_are_like_the_others) {
  SetLayout layout;
  layout.checked = {.asked = 100, .right = 100};
  layout.ways_per_set.assign(256, 8);
  layout.ways_per_set.back() = 7;

  even_out(layout);

  EXPECT_EQ(layout.ways_per_set, std::vector<std::uint32_t>(256, 8));
  EXPECT_EQ(layout.smaller_sets, 1u);
  EXPECT_LT(layout.confidence(), 0.95);
}

TEST(EvenOutTest, other_unequal_sets_stay) {
  const auto stays = [](std::vector<std::uint32_t> ways) {
    SetLayout layout;
    layout.checked = {.asked = 100, .right = 100};
    layout.ways_per_set = ways;
    even_out(layout);
    return layout.ways_per_set == ways && layout.smaller_sets == 0 && layout.confidence() > 0.95;
  };
  std::vector<std::uint32_t> three(256, 8);
  std::fill(three.end() - 3, three.end(), 7);
  EXPECT_TRUE(stays(three));
  std::vector<std::uint32_t> two_less(256, 8);
  two_less.back() = 6;
  EXPECT_TRUE(stays(two_less));
  EXPECT_TRUE(stays({8, 8, 8, 7}));
  EXPECT_TRUE(stays(std::vector<std::uint32_t>(256, 1)));
  EXPECT_TRUE(stays({}));
}

}  // namespace
}  // namespace sonde
