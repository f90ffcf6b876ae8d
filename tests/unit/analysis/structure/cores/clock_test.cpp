// Clocks with known offsets, steps and rates come back from timestamps alone.
#include "analysis/structure/cores/clock.hpp"

#include "base/random.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace sonde {
namespace {

/// The timer starts from the host's time: too many ns for the 53 bits of a double.
constexpr std::uint64_t unix_epoch_ns = 1'700'000'000'000'000'000;

struct FakeClock {
  double offset_cycles = 0;
  double start_ns = 0;
};

/// Readings every 40 +- 2 cycles at 1.98 GHz, one in a hundred late; the timer moves in `step_ns`.
LaneTrace read_clock(int sm, FakeClock clock, double step_ns, int samples, std::uint64_t seed) {
  constexpr double cycles_per_ns = 1.98;
  Random random(seed);
  LaneTrace lane;
  lane.sm = sm;
  double time_ns = 5e9 + clock.start_ns;
  for (int i = 0; i < samples; ++i) {
    const double cycles = clock.offset_cycles + (time_ns - 5e9) * cycles_per_ns;
    lane.clock_cycles.push_back(static_cast<std::uint64_t>(cycles));
    lane.globaltimer_ns.push_back(
        unix_epoch_ns + static_cast<std::uint64_t>(std::floor(time_ns / step_ns) * step_ns));
    const double late_cycles = random.below(100) == 0 ? 400 : 0;
    time_ns += (38 + static_cast<double>(random.below(5)) + late_cycles) / cycles_per_ns;
  }
  return lane;
}

TEST(ClockTest, step_is_what_divides_durations_of_every_kind) {
  using Kinds = std::vector<std::vector<std::uint64_t>>;
  const std::vector<std::uint64_t> loop(300, 28);
  std::vector<std::uint64_t> loads;
  for (std::uint64_t i = 0; i < 300; ++i) loads.push_back(380 + 2 * (i % 5));

  EXPECT_EQ(common_step(Kinds{loop}), 28);
  EXPECT_EQ(common_step(Kinds{loop, loads}), 2);
  loads.push_back(401);  // one stray reading among hundreds
  EXPECT_EQ(common_step(Kinds{loop, loads}), 2);
  EXPECT_EQ(common_step(Kinds{loop, loads, {401, 0}}), 1);
}

TEST(ClockTest, counter_that_stands_still_has_no_step) {
  EXPECT_EQ(common_step(std::vector{counter_moves({7, 7, 7}), counter_moves({})}), 0);
}

TEST(ClockTest, timer_step_is_found_for_dense_and_for_sparse_readings) {
  EXPECT_EQ(timer_step_ns({read_clock(0, {}, 1000, 2000, 1)}), 1000);
  EXPECT_EQ(timer_step_ns({read_clock(0, {}, 32, 2000, 1)}), 32);
  EXPECT_EQ(timer_step_ns({read_clock(0, {}, 8, 2000, 1)}), 8);
}

TEST(ClockTest, rate_and_scope_are_recovered_when_tpcs_share_a_clock) {
  std::vector<LaneTrace> lanes;
  const double offsets[] = {1e6, 1e6, 1e6, 1000040, 1000040, 1000040, 7e9, 7e9, 7e9};
  for (int sm = 0; sm < 9; ++sm) {
    const auto seed = static_cast<std::uint64_t>(sm);
    lanes.push_back(read_clock(sm, {offsets[sm], 700.0 * sm}, 1000, 4000, seed));
  }
  const auto lines = fit_clocks(lanes);
  ASSERT_EQ(lines.size(), 9u);
  for (const ClockLine& line : lines) EXPECT_NEAR(line.hz, 1.98e9, 2e6);
  EXPECT_NEAR(lines[3].offset_cycles - lines[0].offset_cycles, 40, 6);
  const auto groups = group_clocks(lines, 10);
  EXPECT_EQ(groups, (std::vector<int>{0, 0, 0, 1, 1, 1, 2, 2, 2, -1}));
  EXPECT_EQ(name_clock_scope(groups, 1), "tpc");
}

TEST(ClockTest, scope_is_named_by_what_shares_a_clock) {
  EXPECT_EQ(name_clock_scope({0, 1, 2, 3}, 9), "sm");
  EXPECT_EQ(name_clock_scope({0, 0, 0, 0}, 9), "device");
  EXPECT_EQ(name_clock_scope({0, 1, 0, 1, 0, 1, 0, 1}, 9), "gpc");
  EXPECT_EQ(name_clock_scope({0, 0, 1, 1, -1}, 9), "tpc");
}

TEST(ClockTest, small_groups_of_several_sizes_are_gpcs) {
  EXPECT_EQ(name_clock_scope({0, 0, 0, 1, 1, 2, 2, 2}, 9), "gpc");
  EXPECT_EQ(name_clock_scope({0, 0, 1}, 9), "gpc");
}

TEST(ClockTest, groups_of_three_are_tpcs_on_gt200_alone) {
  EXPECT_EQ(name_clock_scope({0, 0, 0, 1, 1, 1}, 1), "tpc");
  EXPECT_EQ(name_clock_scope({0, 0, 0, 1, 1, 1}, 9), "");
}

TEST(ClockTest, lane_without_timer_steps_gives_no_line) {
  EXPECT_TRUE(fit_clocks({read_clock(0, {}, 1e9, 50, 1)}).empty());
}

}  // namespace
}  // namespace sonde
