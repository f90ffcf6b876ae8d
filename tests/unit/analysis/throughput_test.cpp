#include "analysis/throughput.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace sonde {
namespace {

constexpr SmLimits fermi{1024, 1536, 48 << 10, 48 << 10, 0};

TEST(ThroughputTest, shapes_keep_to_the_limits_of_an_sm) {
  const auto shapes = shared_copy_shapes(fermi, 4);

  EXPECT_THAT(shapes, testing::Contains(Shape{512, 1, 4}));
  EXPECT_THAT(shapes, testing::Contains(Shape{1024, 1, 6}));
  EXPECT_THAT(shapes, testing::Not(testing::Contains(Shape{1024, 1, 8})));  // 64 KiB
  EXPECT_THAT(shapes, testing::Not(testing::Contains(Shape{1024, 2, 1})));  // 2048 threads
  EXPECT_THAT(shapes, testing::Not(testing::Contains(Shape{512, 2, 8})));   // 2 x 32 KiB
}

TEST(ThroughputTest, reserved_shared_memory_counts_for_each_block) {
  SmLimits limits{1024, 2048, 48 << 10, 48 << 10, 0};
  EXPECT_THAT(shared_copy_shapes(limits, 4), testing::Contains(Shape{512, 3, 4}));
  limits.reserved_shared_bytes_per_block = 1024;
  EXPECT_THAT(shared_copy_shapes(limits, 4), testing::Not(testing::Contains(Shape{512, 3, 4})));
}

TEST(ThroughputTest, surface_is_ranked_from_the_best) {
  const auto ranked = rank_surface({{{32, 1, 1}, 5}, {{64, 1, 1}, 9}, {{128, 1, 1}, 7}});
  EXPECT_EQ(ranked.front().shape, (Shape{64, 1, 1}));
  EXPECT_EQ(ranked.back().throughput, 5);
}

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

TEST(ThroughputTest, littles_law_gives_latency_and_bytes_in_flight) {
  std::vector<double> in_flight;
  std::vector<double> rate;
  for (double bytes = 1e5; bytes < 2e7; bytes *= 2) {
    in_flight.push_back(bytes);
    rate.push_back(std::min(4.5e12, bytes / 600e-9));
  }
  const auto law = fit_littles_law(in_flight, rate);
  ASSERT_TRUE(law);
  EXPECT_NEAR(law->latency_s, 600e-9, 1e-12);
  EXPECT_NEAR(law->bytes_in_flight, 2.7e6, 1);
  EXPECT_NEAR(law->r2, 1, 1e-9);
}

TEST(ThroughputTest, saturated_points_alone_say_nothing_about_latency) {
  EXPECT_FALSE(fit_littles_law(std::vector<double>{1e6, 2e6, 4e6, 8e6},
                               std::vector<double>{90, 100, 100, 100}));
}

}  // namespace
}  // namespace sonde
