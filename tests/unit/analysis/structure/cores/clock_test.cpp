// Steps of clocks, and what SMs that share one are called.
#include "analysis/structure/cores/clock.hpp"

#include <gtest/gtest.h>

namespace sonde {
namespace {

TEST(ClockTest, step_is_what_divides_durations_of_every_kind) {
  using Kinds = std::vector<std::vector<std::uint64_t>>;
  const std::vector<std::uint64_t> loop(300, 28);
  std::vector<std::uint64_t> loads;
  for (std::uint64_t i = 0; i < 300; ++i) loads.push_back(380 + 2 * (i % 5));

  EXPECT_EQ(common_step(Kinds{loop}), 28);
  EXPECT_EQ(common_step(Kinds{loop, loads}), 2);
  EXPECT_EQ(step_confidence(Kinds{loop}, 28), 0) << "one duration has any step";
  EXPECT_NEAR(step_confidence(Kinds{loop, loads}, 2), 1 - 1 / 32.0, 1e-9) << "six even ones";
  loads.push_back(401);  // one stray reading among hundreds
  EXPECT_EQ(common_step(Kinds{loop, loads}), 2);
  EXPECT_EQ(common_step(Kinds{loop, loads, {401, 0}}), 1);
}

TEST(ClockTest, small_groups_of_several_sizes_are_gpcs) {
  EXPECT_EQ(name_clock_scope({0, 0, 0, 1, 1, 2, 2, 2}, 9), "gpc");
  EXPECT_EQ(name_clock_scope({0, 0, 1}, 9), "gpc");
}

TEST(ClockTest, groups_of_three_are_tpcs_on_gt200_alone) {
  EXPECT_EQ(name_clock_scope({0, 0, 0, 1, 1, 1}, 1), "tpc");
  EXPECT_EQ(name_clock_scope({0, 0, 0, 1, 1, 1}, 9), "");
}

}  // namespace
}  // namespace sonde
