// The model of Dai 2016 on numbers made up so that the answer is known.
#include "analysis/bypass_model.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace sonde {
namespace {

/// N = 8; hits grow up to L = 4 and fall behind it, waiting grows with a power of L.
BypassSweep make_sweep(double exponent) {
  BypassSweep sweep;
  sweep.hit_gain_cycles = 100;
  for (int l = 0; l <= 8; ++l) {
    sweep.cached.push_back(l);
    sweep.estimated_hits.push_back(l <= 4 ? 100 * l : 400 - 20 * (l - 4));
    sweep.wait_cycles.push_back(40000 * std::pow(l / 8.0, exponent));
    sweep.performance.push_back(l == 5 ? 2.0 : 1.0);
  }
  return sweep;
}

TEST(BypassModelTest, finds_the_power_with_which_waiting_grows) {
  for (double exponent : {1.0, 2.5, 3.0, 6.0}) {
    const auto law = fit_wait(std::vector{make_sweep(exponent), make_sweep(exponent)}, 100);
    ASSERT_TRUE(law);
    EXPECT_NEAR(law->exponent, exponent, 0.011);
    EXPECT_GT(law->r2, 0.9999);
    EXPECT_EQ(law->points, 16u);
  }
}

TEST(BypassModelTest, without_waiting_there_is_no_power) {
  EXPECT_FALSE(fit_wait(std::vector{make_sweep(3)}, 50000));
  BypassSweep only_last = make_sweep(3);
  for (std::size_t at = 0; at < 8; ++at) {
    only_last.wait_cycles[at] = std::numeric_limits<double>::quiet_NaN();
  }
  EXPECT_FALSE(fit_wait(std::vector{only_last}, 100)) << "one point is no curve";
}

TEST(BypassModelTest, chooses_the_most_adjusted_hits_and_bypasses_no_more_than_needed) {
  BypassSweep sweep = make_sweep(3);
  EXPECT_EQ(choose_cached(sweep, 0, 3), 4u) << "hits alone";
  EXPECT_LT(choose_cached(sweep, 5, 3), 4u) << "failures weigh";
  sweep.wait_cycles.back() = 0;
  sweep.estimated_hits.assign(9, 7);
  EXPECT_EQ(choose_cached(sweep, 0.5, 3), 8u) << "of equal ones the last";
}

TEST(BypassModelTest, the_best_is_measured_within_a_tolerance) {
  BypassSweep sweep = make_sweep(3);
  EXPECT_EQ(best_cached(sweep, 0.01), 5u);
  sweep.performance[7] = 1.99;
  EXPECT_EQ(best_cached(sweep, 0.01), 7u);
  EXPECT_EQ(best_cached(sweep, 0.001), 5u);
}

TEST(BypassModelTest, learns_the_weight_that_chooses_well) {
  BypassSweep sweep = make_sweep(3);
  sweep.performance.assign(9, 1);
  sweep.performance[choose_cached(sweep, 2, 3)] = 3;
  const double learnt = learn_e(std::vector{sweep}, 3);
  EXPECT_EQ(choose_cached(sweep, learnt, 3), choose_cached(sweep, 2, 3));
  sweep.performance.assign(9, 1);
  EXPECT_DOUBLE_EQ(learn_e(std::vector{sweep}, 3), 0.5) << "where all do, the paper's";
}

}  // namespace
}  // namespace sonde
