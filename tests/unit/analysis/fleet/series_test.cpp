#include "analysis/fleet/series.hpp"
#include "analysis/fleet/describe.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace sonde {
namespace {

Series series_of(const std::vector<double>& values, double repeat = 0) {
  Series series;
  series.metric = "m";
  for (std::size_t i = 0; i < values.size(); ++i) {
    series.samples.push_back({i, values[i], repeat, 1, "node"});
  }
  return series;
}

TEST(SeriesTest, describes_five_values_as_by_hand) {
  const MetricStatistics statistics = describe(series_of({100, 102, 104, 98, 150}), {});

  EXPECT_EQ(statistics.n, 5u);
  EXPECT_DOUBLE_EQ(statistics.median, 102);
  EXPECT_DOUBLE_EQ(statistics.mad, 2);  // 2, 0, 2, 4, 48
  EXPECT_DOUBLE_EQ(statistics.min, 98);
  EXPECT_DOUBLE_EQ(statistics.max, 150);
  // mean 110.8; squares 116.64 + 77.44 + 46.24 + 163.84 + 1536.64 = 1940.8; / 4 = 485.2
  EXPECT_NEAR(statistics.cv, std::sqrt(485.2) / 110.8, 1e-12);
  // 150 disagrees. Of the others: median 101, deviations 3, 1, 1, 3; two thirds of 3 % are less.
  EXPECT_EQ(statistics.agreeing, 4u);
  EXPECT_DOUBLE_EQ(statistics.center, 101);
  EXPECT_DOUBLE_EQ(statistics.scale, 0.02 * 101);
  EXPECT_EQ(statistics.threshold, 0);  // too few for a score verdict
  ASSERT_EQ(statistics.furthest.size(), 3u);
  EXPECT_EQ(statistics.furthest[0].device, 4u);
  EXPECT_NEAR(statistics.furthest[0].deviation_fraction, 49.0 / 101, 1e-12);
  EXPECT_NEAR(statistics.furthest[0].score, 49 / 2.02, 1e-12);
}

TEST(SeriesTest, scale_has_a_floor_where_the_mad_is_zero) {
  Series whole_cycles = series_of({36, 36, 36, 36, 37});
  whole_cycles.resolution = 1;
  EXPECT_NEAR(describe(whole_cycles, {}).scale, 1.4826 / std::sqrt(12.0), 1e-12);

  EXPECT_NEAR(describe(series_of({1000, 1000, 1000}), {}).scale, 5, 1e-12);  // 0.5 %
  EXPECT_NEAR(describe(series_of({1000, 1000, 1000}, 40), {}).scale, 40, 1e-12);
}

TEST(SeriesTest, one_value_stands_alone) {
  const MetricStatistics statistics = describe(series_of({5}), {});

  EXPECT_EQ(statistics.n, 1u);
  EXPECT_TRUE(statistics.furthest.empty());
}

TEST(SeriesTest, variance_components_as_by_hand) {
  // Nodes a {10, 12}, b {20, 22}: within 4 / 2 = 2; between 2 * 25 * 2 / 1 = 100; (100 - 2) / 2.
  const std::vector<Sample> samples{
      {0, 10, 1, 1, "a"}, {1, 12, 1, 1, "a"}, {2, 20, 1, 1, "b"}, {3, 22, 1, 1, "b"}};

  const VarianceComponents components = variance_components(samples);

  EXPECT_NEAR(components.node, std::sqrt(49.0), 1e-12);
  EXPECT_NEAR(components.repeat, 1, 1e-12);
  EXPECT_NEAR(components.device, 1, 1e-12);  // 2 - 1
  EXPECT_NEAR(components.gage, 1 / std::sqrt(51.0), 1e-12);
}

TEST(SeriesTest, negative_variance_components_are_zero) {
  const std::vector<Sample> samples{
      {0, 10, 5, 1, "a"}, {1, 12, 5, 1, "a"}, {2, 10, 5, 1, "b"}, {3, 12, 5, 1, "b"}};

  const VarianceComponents components = variance_components(samples);

  EXPECT_EQ(components.node, 0);
  EXPECT_EQ(components.device, 0);
  EXPECT_EQ(components.gage, 1);
}

}  // namespace
}  // namespace sonde
