#include "analysis/structure/cores/pace.hpp"

#include <gmock/gmock.h>

namespace sonde {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

constexpr std::uint64_t epoch_ns = 1'700'000'000'000'000'000;

LaneTrace block(int launch, std::uint64_t begin_ns, std::uint64_t end_ns) {
  LaneTrace lane;
  lane.cluster = launch;
  lane.globaltimer_ns = {epoch_ns + begin_ns, epoch_ns + end_ns};
  return lane;
}

/// Points half a millisecond apart.
std::vector<PacePoint> points_of(const std::vector<double>& rates_hz) {
  std::vector<PacePoint> points;
  for (std::size_t i = 0; i < rates_hz.size(); ++i) {
    points.push_back({.time_ns = 5e5 * static_cast<double>(i), .hz = rates_hz[i]});
  }
  return points;
}

TEST(PaceTest, launches_that_begin_early_overlap) {
  const LaunchOrder overlap =
      order_launches(std::vector{block(0, 0, 100), block(1, 50, 150), block(2, 90, 200)});
  EXPECT_EQ(name_order(overlap, 1), "overlapping");
  EXPECT_EQ(name_order(overlap, 64), "serial");  // not told by a timer so coarse

  const LaunchOrder mixed =
      order_launches(std::vector{block(0, 0, 100), block(1, 50, 150), block(2, 160, 200)});
  EXPECT_EQ(name_order(mixed, 1), std::nullopt);
  EXPECT_EQ(name_order({}, 1), std::nullopt);
}

TEST(PaceTest, one_odd_point_of_many_does_not_unsettle_a_clock) {
  std::vector<double> rates(20, 2e9);
  rates[15] = 1.7e9;
  const auto pace = find_pace(points_of(rates));
  ASSERT_TRUE(pace);
  EXPECT_EQ(pace->settle_ns, 0);

  rates[12] = rates[17] = 1.7e9;
  EXPECT_FALSE(find_pace(points_of(rates)));
}

TEST(PaceTest, a_clock_that_drifts_or_was_read_too_rarely_has_no_pace) {
  std::vector<double> rising;
  for (int i = 0; i < 20; ++i) rising.push_back(1e9 + 2e7 * i);
  EXPECT_FALSE(find_pace(points_of(rising)));
  EXPECT_FALSE(find_pace(points_of({2e9, 2e9, 2e9})));
}

TEST(PaceTest, what_speaks_against_a_clock_is_named) {
  ClockState state{.throttle_reasons = 0x04 | 0x40,
                   .highest_hz = 2e9,
                   .idle_hz = 2e9,
                   .under_load = Pace{.hz = 1.7e9}};
  const std::vector<std::string> doubts = doubts_of(state);
  ASSERT_THAT(doubts, SizeIs(3));
  EXPECT_THAT(doubts[0], HasSubstr("0x44"));
  EXPECT_THAT(doubts[1], HasSubstr("85 % of the highest clock"));
  EXPECT_THAT(doubts[2], HasSubstr("85.0 % of the idle clock"));

  state.under_load.reset();
  state.throttle_reasons = 0x01;  // idle: no harm
  EXPECT_THAT(doubts_of(state), ElementsAre(HasSubstr("steady")));
}

}  // namespace
}  // namespace sonde
