#include "analysis/throughput.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sonde {
namespace {

TEST(ThroughputTest, candidates_that_are_faster_nowhere_are_left_out) {
  using Rates = std::vector<std::vector<double>>;
  // The second place is slower for all of them.
  EXPECT_THAT(choose_contenders(Rates{{100, 90}, {102, 92}, {80, 72}}, 0.003),
              testing::ElementsAre(1));
  EXPECT_THAT(choose_contenders(Rates{{103, 90}, {102, 92}, {101, 93}}, 0.003),
              testing::ElementsAre(0, 1, 2));
  EXPECT_THAT(choose_contenders(Rates{{100, 100}, {100.2, 99.9}, {100, 100}}, 0.003),
              testing::SizeIs(1));
  EXPECT_THAT(choose_contenders(Rates{}, 0.003), testing::IsEmpty());
}

TEST(ThroughputTest, saturated_points_alone_say_nothing_about_latency) {
  EXPECT_FALSE(fit_littles_law(std::vector<double>{1e6, 2e6, 4e6, 8e6},
                               std::vector<double>{90, 100, 100, 100}));
}

}  // namespace
}  // namespace sonde
