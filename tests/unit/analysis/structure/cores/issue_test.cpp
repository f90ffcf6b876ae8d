#include "analysis/structure/cores/issue.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace sonde {
namespace {

/// What warps of so many schedulers take, with an error of each time.
std::vector<double> stairs(int warps, int schedulers, double latency, double interval,
                           double error = 0) {
  std::vector<double> cycles;
  for (int count = 1; count <= warps; ++count) {
    const double fullest = std::ceil(static_cast<double>(count) / schedulers);
    const double sign = count % 3 - 1;  // -1, 0, 1 by turns
    cycles.push_back(std::max(latency, fullest * interval) * (1 + sign * error));
  }
  return cycles;
}

TEST(IssueTest, schedulers_come_back) {
  for (int schedulers : {1, 2, 3, 4, 6}) {
    for (double interval : {1.0, 2.0, 4.0}) {
      for (double error : {0.0, 0.004}) {
        const auto shape = infer_issue(stairs(32, schedulers, 2.5 * interval, interval, error));

        ASSERT_TRUE(shape.has_value()) << schedulers << " " << interval;
        EXPECT_EQ(shape->schedulers, schedulers) << interval;
        EXPECT_NEAR(shape->interval_cycles, interval, 0.01 * interval);
        EXPECT_NEAR(shape->latency_cycles, 2.5 * interval, 0.01 * interval);
      }
    }
  }
}

TEST(IssueTest, times_that_never_climb_say_nothing) {
  EXPECT_FALSE(infer_issue(std::vector<double>(32, 9.0)).has_value());
  EXPECT_FALSE(infer_issue({}).has_value());
}

/// 24 cycles of 32 warps on four schedulers: one stair alone.
TEST(IssueTest, one_stair_is_too_few) {
  EXPECT_FALSE(infer_issue(stairs(32, 4, 28, 4)).has_value());
}

/// Six units that four schedulers share: times climb evenly, faster than with one scheduler a unit.
TEST(IssueTest, shared_units_make_no_stairs_of_many_schedulers) {
  std::vector<double> cycles;
  for (int warps = 1; warps <= 32; ++warps) cycles.push_back(std::max(9.0, warps * 4 / 6.0));
  const auto shape = infer_issue(cycles);
  EXPECT_TRUE(!shape || shape->schedulers == 1);
}

TEST(IssueTest, times_that_fit_nothing_are_not_forced) {
  std::vector<double> cycles = stairs(32, 4, 4, 4);
  for (std::size_t i = 0; i < cycles.size(); ++i) cycles[i] *= i % 2 == 0 ? 1.0 : 1.2;
  EXPECT_FALSE(infer_issue(cycles).has_value());
}

}  // namespace
}  // namespace sonde
