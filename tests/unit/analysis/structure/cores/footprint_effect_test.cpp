// Latency by footprint: one level, two that a size divides, or neither.
#include "analysis/structure/cores/footprint_effect.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace sonde {
namespace {

const std::vector<double> footprints{1024, 2048, 4096, 8192, 16384, 32768};

FootprintFit fit(const std::vector<double>& latencies, double clock_step_cycles = 1) {
  return fit_footprints(footprints, latencies, clock_step_cycles);
}

TEST(FootprintEffectTest, a_coarse_clock_hides_small_differences) {
  const std::vector<double> latencies{38, 39, 38, 39, 38, 39};
  EXPECT_EQ(fit(latencies, 2).effect, FootprintEffect::none);
  EXPECT_NE(fit(latencies, 1).effect, FootprintEffect::none);
}

TEST(FootprintEffectTest, other_differences_are_unclear) {
  EXPECT_EQ(fit({23, 32, 23, 32, 23, 32}).effect, FootprintEffect::unclear);  // no size divides
  EXPECT_EQ(fit({32, 32, 32, 23, 23, 23}).effect, FootprintEffect::unclear);  // large ones faster
  EXPECT_EQ(fit({23, 25, 27, 29, 31, 33}).effect, FootprintEffect::unclear);  // a slope
  EXPECT_EQ(fit({23, 23, 23, 24.5, 24.5, 24.5}).effect, FootprintEffect::unclear);  // too small
}

}  // namespace
}  // namespace sonde
