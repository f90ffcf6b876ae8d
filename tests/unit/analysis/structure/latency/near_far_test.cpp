// Groups of lines that are near to some SMs and far from others, and groups that are no sides.
#include "analysis/structure/latency/near_far.hpp"

#include "base/random.hpp"

#include <gtest/gtest.h>

#include <cstddef>

namespace sonde {
namespace {

using Latencies = std::vector<std::vector<double>>;

/// @param slower whether a line takes `gap_cycles` longer for an SM
template <class Slower>
Latencies draw(double gap_cycles, const Slower& slower) {
  Random random(5);
  Latencies latencies(8, std::vector<double>(256));
  for (std::size_t sm = 0; sm < latencies.size(); ++sm) {
    for (std::size_t line = 0; line < latencies[sm].size(); ++line) {
      const double spread_cycles = static_cast<double>(random.below(8) + sm);
      latencies[sm][line] = 240 + spread_cycles + (slower(sm, line) ? gap_cycles : 0);
    }
  }
  return latencies;
}

bool is_odd(std::size_t line) { return (line ^ (line >> 3)) % 2 == 1; }

TEST(SplitSidesTest, sees_partitions_of_which_each_is_near_to_some_sms) {
  const auto sides = split_sides(
      draw(110, [](std::size_t sm, std::size_t line) { return is_odd(line) != (sm < 4); }));

  ASSERT_TRUE(sides.has_value());
  EXPECT_NEAR(sides->far_cycles - sides->near_cycles, 110, 4);
  EXPECT_NEAR(sides->near_fraction, 0.5, 0.05);
}

TEST(SplitSidesTest, sees_four_partitions) {
  const auto sides = split_sides(
      draw(110, [](std::size_t sm, std::size_t line) { return line * 37 / 5 % 4 != sm / 2; }));

  ASSERT_TRUE(sides.has_value());
  EXPECT_NEAR(sides->near_fraction, 0.25, 0.05);
}

TEST(SplitSidesTest, slow_translations_are_slow_for_all_sms) {
  const auto latencies = draw(110, [](std::size_t, std::size_t line) { return is_odd(line); });

  EXPECT_TRUE(split_near_far(latencies).has_value());
  EXPECT_FALSE(split_sides(latencies).has_value());
}

TEST(SplitSidesTest, slices_of_one_partition_lie_too_close) {
  const auto latencies =
      draw(30, [](std::size_t sm, std::size_t line) { return is_odd(line) != (sm < 4); });

  EXPECT_TRUE(split_near_far(latencies).has_value());
  EXPECT_FALSE(split_sides(latencies).has_value());
}

}  // namespace
}  // namespace sonde
