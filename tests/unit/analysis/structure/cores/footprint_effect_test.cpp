// Latency by footprint: one level, two that a size divides, or neither.
#include "analysis/structure/cores/footprint_effect.hpp"

#include "base/error.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace sonde {
namespace {

const std::vector<double> footprints{1024, 2048, 4096, 8192, 16384, 32768};

FootprintFit fit(const std::vector<double>& latencies, double clock_step_cycles = 1) {
  return fit_footprints(footprints, latencies, clock_step_cycles);
}

TEST(FootprintEffectTest, equal_latencies_are_one_level) {
  const FootprintFit flat = fit({23, 23.2, 23, 23.4, 23.1, 23});
  EXPECT_EQ(flat.effect, FootprintEffect::none);
  EXPECT_DOUBLE_EQ(flat.least_cycles, 23);
  EXPECT_DOUBLE_EQ(flat.most_cycles, 23.4);
}

TEST(FootprintEffectTest, a_coarse_clock_hides_small_differences) {
  const std::vector<double> latencies{38, 39, 38, 39, 38, 39};
  EXPECT_EQ(fit(latencies, 2).effect, FootprintEffect::none);
  EXPECT_NE(fit(latencies, 1).effect, FootprintEffect::none);
}

TEST(FootprintEffectTest, a_cache_divides_small_from_large) {
  const FootprintFit cached = fit({23, 23.1, 23, 32, 32.2, 32});
  EXPECT_EQ(cached.effect, FootprintEffect::step);
  EXPECT_DOUBLE_EQ(cached.fast_bytes, 4096);
}

TEST(FootprintEffectTest, order_of_the_footprints_does_not_matter) {
  const std::vector<double> shuffled{32768, 1024, 8192, 2048};
  const std::vector<double> latencies{32, 23, 32, 23};
  const FootprintFit cached = fit_footprints(shuffled, latencies, 1);
  EXPECT_EQ(cached.effect, FootprintEffect::step);
  EXPECT_DOUBLE_EQ(cached.fast_bytes, 2048);
}

TEST(FootprintEffectTest, other_differences_are_unclear) {
  EXPECT_EQ(fit({23, 32, 23, 32, 23, 32}).effect, FootprintEffect::unclear);  // no size divides
  EXPECT_EQ(fit({32, 32, 32, 23, 23, 23}).effect, FootprintEffect::unclear);  // large ones faster
  EXPECT_EQ(fit({23, 25, 27, 29, 31, 33}).effect, FootprintEffect::unclear);  // a slope
  EXPECT_EQ(fit({23, 23, 23, 24.5, 24.5, 24.5}).effect, FootprintEffect::unclear);  // too small
}

TEST(FootprintEffectTest, lists_that_do_not_fit_are_refused) {
  EXPECT_THROW(fit_footprints({}, {}, 1), Error);
  EXPECT_THROW(fit({23, 23}), Error);
}

}  // namespace
}  // namespace sonde
