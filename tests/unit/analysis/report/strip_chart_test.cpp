#include "analysis/fleet/verdict/reduce.hpp"
#include "analysis/report/charts/charts.hpp"

#include "unit/analysis/fleet/fleet_maker.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <set>
#include <vector>

namespace sonde {
namespace {

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

  std::vector<Metric> registry(analysis.registry.begin(), analysis.registry.end());
  for (Metric& metric : registry) {
    if (metric.name == "global.read_bytes_per_s") metric.not_compared = "why";
  }
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

}  // namespace
}  // namespace sonde
