#include "analysis/report/charts/charts.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sonde {
namespace {

using ::testing::ElementsAre;

/// One device, measured at each value of the axes; its latency is what `latency` says.
RunResult sweep_over(std::vector<Axis> axes, const std::vector<std::vector<std::string>>& settings,
                     const std::vector<double>& latencies_cycles) {
  RunResult run;
  run.provenance.axes = std::move(axes);
  for (std::size_t i = 0; i < settings.size(); ++i) {
    run.provenance.points.push_back({.config_hash = std::to_string(i),
                                     .config_json = "{}",
                                     .seed = 1,
                                     .repeat_index = 0,
                                     .at = settings[i]});
    DeviceResult device;
    device.info.uuid = "GPU-1";
    device.point_index = i;
    device.jobs = {JobResult{}};
    device.jobs[0].findings = {found("chase.latency_cycles", latencies_cycles[i], 1, 1),
                               found("latency.l1_cycles", 30.0, 1, 1)};
    run.devices.push_back(std::move(device));
  }
  return run;
}

Json charts_of(const RunResult& run) {
  FleetAnalysis analysis;
  analysis.registry = all_metrics();
  return sweep_charts(run, analysis);
}

const Axis footprint{.option = "chase.footprint_bytes", .unit = "byte", .is_number = true};
const Axis path{.option = "chase.path", .unit = "1", .is_number = false};

TEST(SweepChartTest, one_axis_gives_a_curve_of_what_changes_in_the_order_of_the_sweep) {
  Json charts =
      charts_of(sweep_over({footprint}, {{"4096"}, {"1048576"}, {"2048"}}, {31, 250, 31}));

  ASSERT_EQ(charts.size(), 1);  // latency.l1_cycles is the same everywhere
  EXPECT_EQ(charts[0]["title"], "chase.latency_cycles");
  EXPECT_THAT(charts[0]["x"]["domain"], ElementsAre("4 KiB", "1 MiB", "2 KiB"));
  const Json points = charts[0]["points"];
  ASSERT_EQ(points.size(), 3);
  EXPECT_EQ(points[1]["y"], 250);
  EXPECT_EQ(points[1]["x"], "1 MiB");
}

TEST(SweepChartTest, two_axes_give_a_heat_map) {
  Json charts = charts_of(sweep_over(
      {path, footprint}, {{"ca", "4096"}, {"ca", "8192"}, {"cg", "4096"}, {"cg", "8192"}},
      {31, 32, 250, 251}));

  ASSERT_EQ(charts.size(), 1);
  EXPECT_THAT(charts[0]["rows"]["values"], ElementsAre("ca", "cg"));
  EXPECT_THAT(charts[0]["columns"]["values"], ElementsAre("4 KiB", "8 KiB"));
  EXPECT_EQ(charts[0]["cells"].size(), 4);
}

TEST(SweepChartTest, without_a_sweep_there_is_nothing) {
  EXPECT_TRUE(charts_of(sweep_over({}, {{}}, {31})).empty());
  EXPECT_TRUE(charts_of(sweep_over({path}, {{"ca"}, {"cg"}}, {31, 31})).empty());
}

}  // namespace
}  // namespace sonde
