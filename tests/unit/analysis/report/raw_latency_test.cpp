#include "analysis/report/raw_latency.hpp"

#include "analysis/report/charts/charts.hpp"

#include "unit/analysis/fleet/fleet_maker.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

namespace sonde {
namespace {

using ::testing::ElementsAre;

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
  EXPECT_TRUE(paths[1].windows.contains(90)) << "each load path by itself";
  const RawLatency& raw = paths[0];
  EXPECT_EQ(name_of(raw), "cache.l1 through ca");
  EXPECT_EQ(raw.chases, 4u);
  EXPECT_THAT(raw.windows, ElementsAre(std::pair(34, 4), std::pair(36, 1), std::pair(38, 3),
                                       std::pair(250, 1), std::pair(280, 1)));
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
  ASSERT_EQ(raw.windows.size(), 2u);
  EXPECT_EQ(raw.windows.at(300), 7u);
  EXPECT_EQ(raw.spans.at(0).window_cycles, 302.5);
  job.probes[0].trace.lanes.clear();
  EXPECT_TRUE(raw_latencies(job).empty()) << "a file without traces";
  job.probes = {probe("tlb span 4096 step 128", {300})};
  job.probes[0].parameters_json = "no JSON";
  EXPECT_EQ(raw_latencies(job).at(0).path, "");
}

TEST(HistogramTest, bars_are_net_of_the_window_and_marks_are_the_findings) {
  RunResult run = maker::healthy_fleet(1, 7);
  run.devices[0].jobs.push_back(maker::job(
      "clock",
      {found("clock.window_cycles", 2.0, 1, 8), found("cache.l1.hit_latency_cycles", 32.0, 1, 8),
       found("cache.l1.miss_latency_cycles", 9000.0, 1, 8)}));
  Json specs = histogram_charts(run.devices[0], {raw_latencies(some_job())[0], RawLatency{}});
  ASSERT_EQ(specs.size(), 1u) << "nothing of a job without accesses";
  EXPECT_EQ(specs[0]["title"], "cache.l1 through ca, 192 KiB: 10 accesses of 4 chases");
  const Json& bars = specs[0].at("bars");
  EXPECT_EQ(bars.at(0), (Json{{"from", 31.5}, {"to", 33.5}, {"accesses", 4}}));
  EXPECT_EQ(bars.back().at("accesses"), 1) << "the longest, too";
  const Json& marks = specs[0].at("marks");
  ASSERT_EQ(marks.size(), 1u) << "none beyond the bars";
  EXPECT_EQ(marks.at(0).at("label"), "hit 32");
}

TEST(HistogramTest, a_few_interrupts_do_not_stretch_the_chart) {
  RawLatency raw{.job = "tlb",
                 .path = "cg",
                 .chases = 1,
                 .windows = {{300, 50'000}, {310, 50'000}, {2047, 5}},
                 .spans = {}};
  RunResult run = maker::healthy_fleet(1, 7);
  Json specs = histogram_charts(run.devices[0], {raw});
  EXPECT_EQ(specs[0].at("bars").size(), 2u);
  raw.windows[2047] = 500;
  specs = histogram_charts(run.devices[0], {raw});
  EXPECT_EQ(specs[0].at("bars").back().at("accesses"), 500);
}

}  // namespace
}  // namespace sonde
