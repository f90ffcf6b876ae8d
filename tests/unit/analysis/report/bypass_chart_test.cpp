// The figures of Dai 2016 become charts, whole or not at all.
#include "analysis/report/charts.hpp"
#include "unit/analysis/fleet/fleet_maker.hpp"

#include <gmock/gmock.h>

#include <limits>

namespace sonde {
namespace {

using testing::HasSubstr;

RunResult run_with(const std::string& metric, std::vector<double> values) {
  RunResult run = maker::healthy_fleet(2, 7);
  run.devices[1].jobs[0].findings.push_back(found(metric, std::move(values), 1, 1));
  return run;
}

TEST(BypassChartTest, without_the_study_there_is_none) {
  EXPECT_TRUE(bypass_charts(maker::healthy_fleet(2, 7).devices[0], "GPU-1 on n1").empty());
}

TEST(BypassChartTest, failures_are_drawn_as_they_are_and_over_those_with_all) {
  const RunResult run = run_with("bypass.kms.study.cached_failures", {0, 10, 40});
  const Json charts = bypass_charts(run.devices[1], "GPU-1 on n1");
  ASSERT_EQ(charts.size(), 2u);
  EXPECT_THAT(std::string(charts.at(0).at("title").at("text")), HasSubstr("figure 3c"));
  EXPECT_THAT(std::string(charts.at(0).at("title").at("text")), HasSubstr("GPU-1 on n1"));
  const Json& point = charts.at(1).at("data").at(0).at("values").at(1);
  EXPECT_EQ(point.at("series"), "kms");
  EXPECT_EQ(point.at("x"), 0.5);
  EXPECT_EQ(point.at("value"), 0.25);
  EXPECT_EQ(charts.at(0).at("data").at(0).at("values").at(2).at("value"), 40);
}

TEST(BypassChartTest, each_scheme_of_a_program_is_a_bar) {
  const Json charts = bypass_charts(
      run_with("bypass.atx.study.scheme_speedups", {1, 2, 3, 4}).devices[1], "GPU-1 on n1");
  ASSERT_EQ(charts.size(), 1u);
  EXPECT_THAT(std::string(charts.at(0).at("title").at("text")), HasSubstr("figure 6"));
  const Json& points = charts.at(0).at("data").at(0).at("values");
  ASSERT_EQ(points.size(), 4u);
  EXPECT_EQ(points.at(3).at("series"), "MDB-global");
  EXPECT_EQ(points.at(3).at("value"), 4);
  EXPECT_EQ(charts.at(0).at("axes").at(1).at("title"), "speed-up");
}

TEST(BypassChartTest, vectors_of_another_length_and_no_numbers_are_left_out) {
  EXPECT_TRUE(bypass_charts(run_with("bypass.atx.study.scheme_speedups", {1, 2, 3}).devices[1],
                            "GPU-1 on n1")
                  .empty());
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  const Json charts = bypass_charts(
      run_with("bypass.atx.study.scheme_speedups", {1, nan, 3, 4}).devices[1], "GPU-1 on n1");
  ASSERT_EQ(charts.size(), 1u);
  EXPECT_EQ(charts.at(0).at("data").at(0).at("values").size(), 3u);
}

}  // namespace
}  // namespace sonde
