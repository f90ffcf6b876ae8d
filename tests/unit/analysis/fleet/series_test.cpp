#include "analysis/fleet/grounds/series.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace sonde {
namespace {

Series series_of(const std::vector<double>& values, double repeat = 0) {
  Series series{.metric = {"m", "", MetricKind::continuous, Better::neither, "", "", ""}};
  for (std::size_t i = 0; i < values.size(); ++i) {
    series.samples.push_back({i, values[i], repeat});
  }
  return series;
}

TEST(SeriesTest, describes_five_values_as_by_hand) {
  const MetricStatistics statistics = describe(series_of({100, 102, 104, 98, 150}));

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
  EXPECT_NEAR(describe(whole_cycles).scale, 1.4826 / std::sqrt(12.0), 1e-12);

  EXPECT_NEAR(describe(series_of({1000, 1000, 1000})).scale, 5, 1e-12);  // 0.5 %
  EXPECT_NEAR(describe(series_of({1000, 1000, 1000}, 40)).scale, 40, 1e-12);
}

}  // namespace
}  // namespace sonde
