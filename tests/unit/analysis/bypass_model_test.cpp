// The model finds its own law again, and prefers what its numbers prefer.
#include "analysis/bypass_model.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace sonde {
namespace {

const Unloaded unloaded{{40, 44}, {240, 250}};

LaneTrace make_lane(int sm, int warp, std::uint64_t elapsed_cycles,
                    std::vector<std::uint32_t> windows) {
  LaneTrace lane;
  lane.sm = sm;
  lane.warp = warp;
  lane.elapsed_cycles = elapsed_cycles;
  lane.window_cycles = std::move(windows);
  return lane;
}

/// Hits rise to L = 3 of 8 and fall; congestion follows the given power; cycles follow from both.
std::vector<BypassPoint> make_points(double exponent, double base_cycles) {
  const double hits[] = {0, 100, 200, 300, 304, 200, 120, 60, 40};
  std::vector<BypassPoint> points;
  for (std::size_t l = 0; l < 9; ++l) {
    const double congestion = base_cycles * std::pow(static_cast<double>(l) / 8, exponent);
    const double performance = 1000 + hits[l] - 0.5 * congestion / 200;
    points.push_back({1e6 / performance, performance, hits[l], congestion});
  }
  return points;
}

TEST(BypassModelTest, lanes_are_counted_by_class_and_only_cached_warps_are_congested) {
  const std::vector<LaneTrace> lanes{
      make_lane(0, 0, 900, {40, 44, 60, 240, 340}), make_lane(0, 1, 1000, {600, 600}),
      make_lane(4, 0, 800, {40, 41, 60, 240, 340}), make_lane(4, 1, 1200, {600, 600})};
  const BypassPoint point = summarize_bypass(lanes, 1, unloaded);
  EXPECT_DOUBLE_EQ(point.cycles, 1100);
  EXPECT_DOUBLE_EQ(point.accesses_per_cycle, (5.0 / 900 + 2.0 / 1000 + 5.0 / 800 + 2.0 / 1200) / 2);
  EXPECT_DOUBLE_EQ(point.hits, 3);
  EXPECT_DOUBLE_EQ(point.congestion, 20 + 100);
}

TEST(BypassModelTest, exponent_of_the_congestion_is_found) {
  for (double exponent : {1.0, 3.0, 4.5}) {
    const auto law = fit_congestion(make_points(exponent, 50000), 100);
    ASSERT_TRUE(law);
    EXPECT_NEAR(law->exponent, exponent, 0.01);
    EXPECT_NEAR(law->r2, 1, 1e-4);
  }
}

TEST(BypassModelTest, congestion_that_starts_late_is_fitted_in_spite_of_zeros) {
  auto points = make_points(3, 50000);
  for (std::size_t l = 0; l < 4; ++l) points[l].congestion = 0;
  const auto law = fit_congestion(points, 100);
  ASSERT_TRUE(law);
  EXPECT_GT(law->exponent, 3);
  EXPECT_GT(law->r2, 0.9);
}

TEST(BypassModelTest, no_congestion_gives_no_law_and_a_model_of_hits_alone) {
  const auto points = make_points(3, 50);
  EXPECT_FALSE(fit_congestion(points, 100));
  EXPECT_EQ(fit_bypass_model(points, std::nullopt, 200).best_l, 4);
}

TEST(BypassModelTest, congestion_moves_the_best_number_of_warps_below_that_of_most_hits) {
  const auto points = make_points(3, 50000);
  const BypassModel model = fit_bypass_model(points, fit_congestion(points, 100), 200);
  EXPECT_EQ(model.best_l, 3);
  EXPECT_EQ(find_best_l(points, 0.0001), 3);
  EXPECT_DOUBLE_EQ(model.e, 0.5);
}

TEST(BypassModelTest, of_equal_numbers_the_one_that_bypasses_least_is_best) {
  std::vector<BypassPoint> points(5, BypassPoint{1000, 1, 7, 0});
  points[4].accesses_per_cycle = 0.995;
  EXPECT_EQ(find_best_l(points, 0.01), 4);
  EXPECT_EQ(find_best_l(points, 0.001), 3);
  EXPECT_EQ(fit_bypass_model(points, std::nullopt, 200).best_l, 4);
}

}  // namespace
}  // namespace sonde
