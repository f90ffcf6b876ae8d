// Charts of a fleet, of a sweep and of the shapes of a grid.
#include "analysis/report/charts/charts.hpp"
#include "analysis/fleet/verdict/reduce.hpp"

#include "unit/analysis/fleet/fleet_maker.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <limits>
#include <set>
#include <vector>

namespace sonde {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Json chart_of(const RunResult& run) {
  return strip_chart(run, reduce_fleet(run, maker::options()));
}

const Json* metric_of(const Json& chart, const std::string& name) {
  const Json& metrics = chart.at("metrics");
  const auto found =
      std::ranges::find_if(metrics, [&](const Json& one) { return one.at("name") == name; });
  return found == metrics.end() ? nullptr : &*found;
}

TEST(StripChartTest, a_metric_with_a_finding_comes_first_and_says_who_is_out) {
  RunResult run = maker::healthy_fleet(8, 7);
  maker::scale_finding(run.devices[5], "global.read_bytes_per_s", 0.8);
  const auto chart = chart_of(run);
  ASSERT_FALSE(chart.empty());
  const Json& metric = chart.at("metrics").at(0);
  EXPECT_EQ(metric.at("name"), "global.read_bytes_per_s");
  EXPECT_EQ(metric.at("values").size(), 8u);
  ASSERT_EQ(metric.at("out").size(), 1u);
  const std::size_t out = metric.at("out").at(0);
  const Json& device = chart.at("groups").at(0).at("devices").at(out);
  EXPECT_EQ(device, Json({{"gpu", run.devices[5].info.uuid.substr(0, 12)},
                          {"node", run.devices[5].node},
                          {"rank", 5}}));
  const double value = metric.at("values").at(out);
  EXPECT_NEAR(value / metric.at("median").get<double>(), 0.8, 0.02) << "in the unit of the median";
  EXPECT_TRUE(chart.at("metrics").back().at("out").empty()) << "others follow";
}

TEST(StripChartTest, metrics_that_are_not_compared_are_left_out) {
  RunResult run = maker::healthy_fleet(8, 7);
  maker::scale_finding(run.devices[5], "global.read_bytes_per_s", 0.8);
  FleetAnalysis analysis = reduce_fleet(run, maker::options());
  ASSERT_NE(metric_of(strip_chart(run, analysis), "global.read_bytes_per_s"), nullptr);

  const std::vector<Metric> registry = maker::registry_without("global.read_bytes_per_s");
  analysis.registry = registry;

  const auto chart = strip_chart(run, analysis);
  ASSERT_FALSE(chart.empty()) << "of the others";
  EXPECT_EQ(metric_of(chart, "global.read_bytes_per_s"), nullptr);
}

TEST(StripChartTest, a_count_that_differs_is_drawn_too) {
  RunResult run = maker::healthy_fleet(4, 7);
  maker::scale_finding(run.devices[1], "device.sm_count", 130.0 / 132);
  const auto chart = chart_of(run);
  ASSERT_FALSE(chart.empty());
  const Json* metric = metric_of(chart, "device.sm_count");
  ASSERT_NE(metric, nullptr);
  EXPECT_EQ(metric->at("median"), 132);
  EXPECT_EQ(metric->at("unit"), "");
  ASSERT_EQ(metric->at("out").size(), 1u);
  EXPECT_EQ(metric->at("values").at(metric->at("out").at(0).get<std::size_t>()), 130);
  EXPECT_EQ(metric_of(chart, "topology.gpc_count"), nullptr) << "no structure that all agree on";
}

TEST(StripChartTest, a_large_group_keeps_its_flagged_devices_and_a_bounded_size) {
  constexpr std::size_t gpus = 1500;
  RunResult run = maker::healthy_fleet(gpus, 7);
  for (const std::size_t i : {3u, 1499u}) {
    maker::scale_finding(run.devices[i], "global.read_bytes_per_s", 0.8);
  }
  const auto chart = chart_of(run);
  ASSERT_FALSE(chart.empty());
  const Json& group = chart.at("groups").at(0);
  EXPECT_EQ(group.at("n"), gpus);
  EXPECT_EQ(group.at("devices").size(), 1024u);
  std::set<int> ranks;
  for (const Json& device : group.at("devices")) ranks.insert(device.at("rank").get<int>());
  EXPECT_EQ(ranks.size(), 1024u) << "each once";
  EXPECT_TRUE(ranks.contains(3) && ranks.contains(1499));
  EXPECT_EQ(metric_of(chart, "global.read_bytes_per_s")->at("out").size(), 2u);
  EXPECT_LT(chart.dump().size(), 400'000u);
}

TEST(StripChartTest, a_device_without_a_value_has_none) {
  RunResult run = maker::healthy_fleet(4, 7);
  for (JobResult& job : run.devices[2].jobs) {
    std::erase_if(job.findings,
                  [](const Finding& one) { return one.metric == "latency.dram_cycles"; });
  }
  maker::scale_finding(run.devices[0], "latency.dram_cycles", 1.3);
  const auto chart = chart_of(run);
  ASSERT_FALSE(chart.empty());
  const Json* metric = metric_of(chart, "latency.dram_cycles");
  ASSERT_NE(metric, nullptr);
  EXPECT_EQ(std::ranges::count(metric->at("values"), Json()), 1);
}

TEST(StripChartTest, a_device_alone_has_no_strip) {
  EXPECT_TRUE(chart_of(maker::healthy_fleet(1, 7)).empty());
}

/// One device, measured at each value of the axes; its latency is what `latency` says.
RunResult sweep_over(const std::vector<Axis>& axes,
                     const std::vector<std::vector<std::string>>& settings,
                     const std::vector<double>& latencies_cycles) {
  RunResult run;
  run.devices.emplace_back().jobs = {maker::job("some", {found("latency.l1_cycles", 30.0, 1, 1)})};
  run = maker::sweep_of(std::move(run), axes, settings);
  for (std::size_t i = 0; i < settings.size(); ++i) {
    run.devices[i].jobs[0].findings.push_back(
        found("chase.latency_cycles", latencies_cycles[i], 1, 1));
  }
  return run;
}

Json charts_of(const RunResult& run) {
  FleetAnalysis analysis;
  analysis.registry = all_metrics();
  analysis.groups = {{.model = "a GPU", .label = "a GPU", .devices = {}}};
  for (std::size_t i = 0; i < run.devices.size(); ++i) analysis.groups[0].devices.push_back(i);
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

TEST(SweepChartTest, of_three_axes_the_first_makes_panels) {
  const Axis stride{.option = "chase.stride_bytes", .unit = "byte", .is_number = true};
  std::vector<std::vector<std::string>> settings;
  for (const char* step : {"32", "128"}) {
    for (const char* way : {"ca", "cg"}) {
      for (const char* bytes : {"4096", "8192"}) settings.push_back({step, way, bytes});
    }
  }

  Json charts =
      charts_of(sweep_over({stride, path, footprint}, settings, {31, 32, 33, 34, 35, 36, 37, 38}));

  ASSERT_EQ(charts.size(), 1);
  ASSERT_EQ(charts[0]["cells"].size(), 8);
  EXPECT_EQ(charts[0]["cells"][5]["panel"], "stride_bytes=128 B");
  EXPECT_EQ(charts[0]["cells"][5]["row"], "ca");
  EXPECT_EQ(charts[0]["cells"][5]["column"], "8 KiB");
}

TEST(SweepChartTest, a_long_axis_beside_a_short_one_gives_a_curve_for_each_value_of_that) {
  std::vector<std::vector<std::string>> settings;
  std::vector<double> latencies;
  for (int sm = 0; sm < 20; ++sm) {
    for (const char* way : {"ca", "cg"}) settings.push_back({std::to_string(sm), way});
    latencies.insert(latencies.end(), {30.0 + sm, 250});
  }

  Json charts = charts_of(
      sweep_over({{.option = "sms", .unit = "1", .is_number = true}, path}, settings, latencies));

  ASSERT_EQ(charts.size(), 1);
  EXPECT_EQ(charts[0]["x"]["domain"].size(), 20);
  EXPECT_EQ(charts[0]["points"].size(), 40);
  EXPECT_EQ(charts[0]["points"][3]["line"], "path=cg");
  EXPECT_EQ(charts[0]["points"][3]["x"], "1");
}

TEST(SweepChartTest, without_a_sweep_there_is_nothing) {
  EXPECT_TRUE(charts_of(sweep_over({}, {{}}, {31})).empty());
  EXPECT_TRUE(charts_of(sweep_over({path}, {{"ca"}, {"cg"}}, {31, 31})).empty());
}

}  // namespace
}  // namespace sonde
