#include "analysis/throughput.hpp"

#include <gtest/gtest.h>

namespace sonde {
namespace {

TEST(ThroughputTest, saturated_points_alone_say_nothing_about_latency) {
  EXPECT_FALSE(fit_littles_law(std::vector<double>{1e6, 2e6, 4e6, 8e6},
                               std::vector<double>{90, 100, 100, 100}));
}

}  // namespace
}  // namespace sonde
