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

/// SMs two by two in partitions, of which there are so many.
std::size_t count_drawn_sides(std::size_t partitions) {
  const auto latencies = draw(110, [=](std::size_t sm, std::size_t line) {
    return line * 37 / 5 % partitions != sm / 2 % partitions;
  });
  const auto sides = split_sides(latencies);
  return sides ? count_sides(latencies, *sides) : 0;
}

TEST(CountSidesTest, counts_partitions_by_the_lines_near_to_their_sms) {
  for (const std::size_t partitions : {2, 3, 4})
    EXPECT_EQ(count_drawn_sides(partitions), partitions);
}

TEST(CountSidesTest, counts_none_where_lines_are_near_to_no_sm) {
  EXPECT_EQ(count_drawn_sides(6), 0U);  // the eight SMs lie in four of them
}

}  // namespace
}  // namespace sonde
