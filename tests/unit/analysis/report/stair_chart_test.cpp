#include "analysis/report/charts.hpp"

#include "unit/analysis/fleet/fleet_maker.hpp"

#include <gmock/gmock.h>

namespace sonde {
namespace {

using ::testing::ElementsAre;

RawLatency raw_of(std::string job, std::vector<SpanLatency> spans) {
  return {.job = std::move(job),
          .path = "cg",
          .chases = spans.size(),
          .windows = {},
          .spans = std::move(spans)};
}

Json values_of(Json& spec, const char* name) { return entry_of(spec["data"], name).at("values"); }

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
  Json specs = stair_charts(run.devices[0], {raw});
  ASSERT_EQ(specs.size(), 2u);
  EXPECT_EQ(specs[0]["title"]["text"], "cache.l1 through cg, 128 B steps");
  EXPECT_EQ(specs[1]["title"]["text"], "cache.l1 through cg at its edge, 128 B steps");
  EXPECT_EQ(values_of(specs[0], "points").at(2).at("cycles"), 88) << "net of the window";
  EXPECT_EQ(values_of(specs[0], "marks").at(0).at("label"), "size 192 KiB");
  EXPECT_EQ(entry_of(specs[0]["scales"], "x").at("type"), "log");
  EXPECT_EQ(entry_of(specs[1]["scales"], "x").at("type"), "linear");
  EXPECT_FALSE(specs[0].contains("legends")) << "of a single line";
}

TEST(StairChartTest, a_step_that_grows_with_the_span_goes_on_with_its_line) {
  const RunResult run = run_with({found("tlb.l1.reach_bytes", 8388608.0, 1, 8)});
  const RawLatency raw = raw_of("tlb", {{1 << 20, 4096, 280, false},
                                        {2 << 20, 4096, 280, false},
                                        {4 << 20, 4096, 280, false},
                                        {16 << 20, 8192, 300, false},  // farther out
                                        {2 << 20, 16384, 290, false},  // neither that nor a line
                                        {1 << 20, 65536, 281, false},
                                        {8 << 20, 65536, 281, false},
                                        {9 << 20, 65536, 299, false}});
  Json specs = stair_charts(run.devices[0], {raw});
  ASSERT_EQ(specs.size(), 1u);
  EXPECT_EQ(values_of(specs[0], "points").size(), 7u);
  EXPECT_THAT(entry_of(specs[0]["scales"], "colour").at("domain"),
              ElementsAre("4 KiB steps and more", "64 KiB steps"));
  const Json marks = values_of(specs[0], "marks");
  ASSERT_EQ(marks.size(), 1u);
  EXPECT_EQ(marks.at(0).at("label"), "TLB l1 8 MiB");
  EXPECT_EQ(marks.at(0).at("tlb"), true);
}

TEST(StairChartTest, lines_end_at_a_gap_and_flat_ones_look_flat) {
  const RunResult run = run_with({});
  const RawLatency raw = raw_of(
      "tlb",
      {{1 << 20, 4096, 280, false}, {2 << 20, 4096, 280, false}, {64 << 20, 4096, 281, false}});
  Json specs = stair_charts(run.devices[0], {raw});
  ASSERT_EQ(specs.size(), 1u);
  const Json points = values_of(specs[0], "points");
  EXPECT_EQ(points.at(0).at("piece"), points.at(1).at("piece"));
  EXPECT_NE(points.at(1).at("piece"), points.at(2).at("piece"));
  EXPECT_EQ(entry_of(specs[0]["scales"], "y").at("domain"), Json::array({280.0, 285.0}));
}

TEST(StairChartTest, few_points_are_no_staircase) {
  const RunResult run = run_with({});
  const RawLatency raw = raw_of("cache.l2", {{4096, 128, 34, false}, {8192, 128, 34, false}});
  EXPECT_TRUE(stair_charts(run.devices[0], {raw}).empty());
  EXPECT_TRUE(stair_charts(run.devices[0], {}).empty());
}

TEST(StairChartTest, classical_curves_need_no_traces) {
  const RunResult run = run_with(
      {found("latency.saavedra_stride_bytes", std::vector<double>{8, 16, 32}, 1, 3),
       found("latency.saavedra_footprint_bytes", std::vector<double>{4096, 8192}, 1, 2),
       found("latency.saavedra_cycles", std::vector<double>{32, 33, 34, 60, 90, 120}, 1, 6),
       found("latency.wong_footprint_bytes", std::vector<double>{196480, 196608, 196736, 393216}, 1,
             4),
       found("latency.wong_cycles", std::vector<double>{32, 32, 60, 280}, 1, 4)});
  Json specs = stair_charts(run.devices[0], {});
  ASSERT_EQ(specs.size(), 2u);
  const Json saavedra = values_of(specs[0], "points");
  ASSERT_EQ(saavedra.size(), 6u);
  EXPECT_EQ(saavedra.at(4).at("line"), "8 KiB") << "row by row, all strides of a footprint";
  EXPECT_EQ(saavedra.at(4).at("size"), "16 B");
  EXPECT_EQ(saavedra.at(4).at("cycles"), 90);
  EXPECT_EQ(values_of(specs[1], "points").size(), 3u) << "without twice the size";
  EXPECT_EQ(values_of(specs[1], "marks").at(0).at("label"), "size 192 KiB");
}

}  // namespace
}  // namespace sonde
