// What the traces of one device say, and the charts of it.
#include "analysis/report/raw_latency.hpp"
#include "analysis/report/charts/charts.hpp"

#include "unit/analysis/fleet/fleet_maker.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <set>
#include <string>
#include <vector>

namespace sonde {
namespace {

using ::testing::ElementsAre;
using Cycles = std::vector<double>;

ProbeRecord probe(std::string label, std::vector<std::uint32_t> windows, int place = 0,
                  const char* path = "ca") {
  ProbeRecord record;
  record.parameters_json = fmt::format(R"({{"path":"{}","place":{}}})", path, place);
  record.label = std::move(label);
  record.trace.lanes.emplace_back().window_cycles = std::move(windows);
  return record;
}

JobResult some_job() {
  JobResult job;
  job.job = "cache.l1";
  job.probes = {probe("cache.l1 coarse 4096 step 128", {34, 34, 34, 38}),
                probe("cache.l1 size 4224 step 128", {34, 280}),
                probe("cache.l1 size 4224 step 128", {36, 250}),
                probe("cache.l1 size 4224 step 128", {38, 38}, 2),
                probe("cache.l1 size 4224 step 128", {90}, 0, "texture_1d"),
                probe("cache.l1 conflicts", {900}),
                probe("cache.l1 with 8192 shared size 4224 step 128", {900}),
                probe("cache.l2 size 4224 step 128", {900}),
                probe("cache.l1 size many step 128", {900})};
  return job;
}

TEST(RawLatencyTest, accesses_of_chases_that_looked_for_the_capacity_are_counted) {
  const std::vector<RawLatency> paths = raw_latencies(some_job());
  ASSERT_EQ(paths.size(), 2u);
  EXPECT_EQ(paths[1].path, "texture_1d");
  EXPECT_EQ(paths[1].spans.at(0).window_cycles, 90) << "each load path by itself";
  const RawLatency& raw = paths[0];
  EXPECT_EQ(name_of(raw), "cache.l1 through ca");
}

TEST(RawLatencyTest, chases_of_one_span_in_the_first_place_have_one_mean) {
  const RawLatency raw = raw_latencies(some_job()).at(0);
  ASSERT_EQ(raw.spans.size(), 2u);
  EXPECT_EQ(raw.spans[0].span_bytes, 4096u);
  EXPECT_EQ(raw.spans[0].window_cycles, 35);
  EXPECT_FALSE(raw.spans[0].at_edge);
  EXPECT_EQ(raw.spans[1].span_bytes, 4224u);
  EXPECT_EQ(raw.spans[1].window_cycles, 150);
  EXPECT_TRUE(raw.spans[1].at_edge);
}

TEST(RawLatencyTest, a_lane_that_kept_counts_only_is_counted_by_these) {
  JobResult job;
  job.job = "tlb";
  job.probes = {probe("tlb span 4096 step 128", {})};
  job.probes[0].trace.lanes[0].histogram = {{300, 7}, {320, 1}};
  const RawLatency raw = raw_latencies(job).at(0);
  EXPECT_EQ(raw.spans.at(0).window_cycles, 302.5);
  job.probes[0].trace.lanes.clear();
  EXPECT_TRUE(raw_latencies(job).empty()) << "a file without traces";
  job.probes = {probe("tlb span 4096 step 128", {300})};
  job.probes[0].parameters_json = "no JSON";
  EXPECT_EQ(raw_latencies(job).at(0).path, "");
}

RawLatency raw_of(std::string job, std::vector<SpanLatency> spans) {
  return {.job = std::move(job), .path = "cg", .spans = std::move(spans)};
}

RunResult run_with(std::vector<Finding> findings) {
  RunResult run = maker::healthy_fleet(1, 7);
  run.devices[0].jobs.push_back(maker::job("some", std::move(findings)));
  return run;
}

TEST(StairChartTest, a_panel_is_wide_and_one_lies_at_the_edge) {
  const RunResult run = run_with({found("clock.window_cycles", 2.0, 1, 8)});
  const RawLatency raw = raw_of("cache.l1", {{4096, 128, 34, false},
                                             {131072, 128, 34, false},
                                             {262144, 128, 90, false},
                                             {196608, 128, 34, true},
                                             {196736, 128, 35, true},
                                             {196864, 128, 36, true}});
  const Json charts = stair_charts(run.devices[0], {raw});
  ASSERT_EQ(charts.size(), 2u);
  EXPECT_EQ(charts[0].at("title"), "cache.l1 through cg, 128 B steps");
  EXPECT_EQ(charts[1].at("title"), "cache.l1 through cg at its edge, 128 B steps");
  EXPECT_EQ(charts[0].at("points").at(2).at("y"), 88) << "net of the window";
  EXPECT_EQ(charts[0].at("marks").at(0).at("label"), "size 192 KiB");
  EXPECT_EQ(charts[0].at("x").at("type"), "log");
  EXPECT_EQ(charts[1].at("x").at("type"), "linear");
}

TEST(StairChartTest, each_step_with_enough_spans_is_a_line) {
  const RunResult run = run_with({found("tlb.l1.reach_bytes", 8388608.0, 1, 8)});
  const RawLatency raw = raw_of("tlb", {{1 << 20, 4096, 280, false},
                                        {2 << 20, 4096, 280, false},
                                        {4 << 20, 4096, 280, false},
                                        {2 << 20, 16384, 290, false},
                                        {1 << 20, 65536, 281, false},
                                        {8 << 20, 65536, 281, false},
                                        {9 << 20, 65536, 282, false}});
  const Json charts = stair_charts(run.devices[0], {raw});
  ASSERT_EQ(charts.size(), 1u);
  std::set<std::string> lines;
  for (const Json& point : charts[0].at("points")) lines.insert(point.at("line"));
  EXPECT_THAT(lines, ElementsAre("4 KiB steps", "64 KiB steps"));
  ASSERT_EQ(charts[0].at("marks").size(), 1u);
  EXPECT_EQ(charts[0].at("marks").at(0).at("label"), "TLB l1 8 MiB");
  EXPECT_EQ(charts[0].at("marks").at(0).at("tlb"), true);
  EXPECT_EQ(charts[0].at("y").at("domain"), Json::array({280.0, 285.0})) << "flat ones look flat";
}

TEST(StairChartTest, few_points_are_no_staircase) {
  const RunResult run = run_with({});
  const RawLatency raw = raw_of("cache.l2", {{4096, 128, 34, false}, {8192, 128, 34, false}});
  EXPECT_TRUE(stair_charts(run.devices[0], {raw}).empty());
  EXPECT_TRUE(stair_charts(run.devices[0], {}).empty());
}

/// Where the axis of cycles ends in the chart of a device for each list, at footprints of 1, 2, 4,
/// ... KiB, none of which is flagged.
double top_cycles(const std::vector<Cycles>& stairs) {
  RunResult run = maker::healthy_fleet(stairs.size(), 7);
  for (std::size_t i = 0; i < stairs.size(); ++i) {
    std::vector<double> bytes;
    for (std::size_t j = 0; j < stairs[i].size(); ++j) {
      bytes.push_back(1024.0 * static_cast<double>(1 << j));
    }
    run.devices[i].jobs = {
        maker::job("latency", {found("latency.staircase_bytes", bytes, 1, 2),
                               found("latency.staircase_cycles", stairs[i], 1, 2)})};
  }
  FleetAnalysis analysis;
  analysis.verdicts.resize(run.devices.size());
  return staircase_chart(run, analysis).at("y").at("domain").at(1);
}

TEST(StaircaseChartTest, the_axis_ends_above_the_highest_stair_that_is_no_outlier) {
  const Cycles well{30, 30, 280, 280};
  EXPECT_DOUBLE_EQ(top_cycles({{30, 30, 9000, 30, 280, 280}}), 1.08 * 280) << "a load out of line";
  EXPECT_DOUBLE_EQ(top_cycles({{30, 30, 30, 280, 280, 900}}), 1.08 * 900) << "a stair of one point";
  EXPECT_DOUBLE_EQ(top_cycles({{30, 30, 330, 280, 280, 280}}), 1.08 * 330) << "a little higher";
  EXPECT_DOUBLE_EQ(top_cycles({well, well, {3000, 3000, 28000, 28000}}), 1.08 * 560)
      << "a device far above the others";
}

}  // namespace
}  // namespace sonde
