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

TEST(SplitNearFarTest, cold_lines_of_an_h200_lie_in_two_groups) {
  // Windows that SM 130 of an H200 recorded, in bins of 20 cycles.
  const int counts[] = {29, 115, 108, 75, 14, 2, 3, 11, 34, 29, 56, 87, 80, 40, 8, 4, 0, 2, 2, 4,
                        7,  4,   3,   5,  4,  2, 8, 9,  3,  2,  2,  1,  2,  1,  3, 4, 1, 2, 2, 0};
  std::vector<double> lines;
  for (int bin = 0; bin < 40; ++bin) {
    for (int i = 0; i < counts[bin]; ++i) lines.push_back(490 + 20 * bin);
  }
  const auto halves = split_near_far(std::vector<std::vector<double>>{lines});
  ASSERT_TRUE(halves);
  EXPECT_NEAR(halves->near_cycles, 530, 10);
  EXPECT_NEAR(halves->far_cycles, 715, 15);
}

TEST(SplitNearFarTest, spread_over_slices_is_not_taken_for_partitions) {
  Random random(11);
  for (double spread_cycles : {0.0, 6.0, 60.0}) {
    Latencies latencies(16, std::vector<double>(300));
    for (std::size_t sm = 0; sm < latencies.size(); ++sm) {
      for (double& cycles : latencies[sm])
        cycles = 230 + static_cast<double>(sm) + spread_cycles * random.unit();
    }
    EXPECT_FALSE(split_near_far(latencies)) << spread_cycles;
  }
}

}  // namespace
}  // namespace sonde
