#include "analysis/structure/latency/two_sides.hpp"

#include "base/random.hpp"

#include <gtest/gtest.h>

namespace sonde {
namespace {

TEST(AdditiveMapTest, an_outlier_is_named_and_chance_is_not) {
  int named = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Random random(seed);
    std::vector<double> values;
    for (int i = 0; i < 94; ++i) {
      double sum = 0;  // of twelve: nearly normal, deviation 1
      for (int k = 0; k < 12; ++k) sum += random.unit();
      values.push_back(280 + sum);
    }
    named += find_high_outlier(values, 1).has_value();
    values[13] = 300;
    const auto outlier = find_high_outlier(values, 1);
    ASSERT_TRUE(outlier) << seed;
    EXPECT_EQ(outlier->place, 13u);
    EXPECT_NEAR(outlier->excess, 14, 1);
  }
  EXPECT_LE(named, 4);
}

}  // namespace
}  // namespace sonde
