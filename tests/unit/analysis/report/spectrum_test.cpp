#include "analysis/fleet/reduce.hpp"
#include "analysis/report/charts.hpp"

#include "unit/analysis/fleet/fleet_maker.hpp"

#include <gmock/gmock.h>

namespace sonde {
namespace {

/// P1 is 32, 33, 34, ... cycles on the first, second, third device; there is no P2.
RunResult run_with_patterns(std::size_t devices) {
  RunResult run = maker::healthy_fleet(devices, 7);
  for (std::size_t i = 0; i < devices; ++i) {
    std::vector<Finding> findings{found("latency.p1_cycles", 32.0 + static_cast<double>(i), 1, 8),
                                  not_present("latency.p2_cycles", "virtually addressed"),
                                  not_resolvable("latency.cg.p1_cycles", "no TLB job")};
    findings[0].repeatability = 5;
    findings[0].reproducibility = i == 1 ? 2.0 : 0.0;
    run.devices[i].jobs.push_back(maker::job("latency", findings));
  }
  return run;
}

Json charts_of(const RunResult& run) {
  return spectrum_charts(run, reduce_fleet(run, maker::options()));
}

TEST(SpectrumTest, a_bar_is_the_median_device_with_its_deviation) {
  Json specs = charts_of(run_with_patterns(3));
  ASSERT_EQ(specs.size(), 1u);
  const Json& bars = entry_of(specs[0]["data"], "bars").at("values");
  ASSERT_EQ(bars.size(), 1u);
  EXPECT_EQ(bars[0].at("pattern"), "P1");
  EXPECT_EQ(bars[0].at("path"), "plain loads");
  EXPECT_EQ(bars[0].at("cycles"), 33);
  EXPECT_EQ(bars[0].at("deviation"), 2) << "between replicates, where it is known";
  EXPECT_THAT(std::string(specs[0]["title"]["text"]), ::testing::EndsWith("median of 3 GPUs"));
}

TEST(SpectrumTest, a_pattern_without_latency_says_why) {
  Json specs = charts_of(run_with_patterns(1));
  const Json& gaps = entry_of(specs[0]["data"], "gaps").at("values");
  ASSERT_EQ(gaps.size(), 2u);
  EXPECT_EQ(gaps[0].at("text"), "absent");
  EXPECT_EQ(gaps[0].at("reason"), "virtually addressed");
  EXPECT_EQ(gaps[1].at("text"), "?");
  EXPECT_EQ(gaps[1].at("path"), "loads past the L1");
  EXPECT_EQ(entry_of(specs[0]["data"], "bars").at("values")[0].at("deviation"), 5)
      << "of the samples, where there is one replicate";
}

TEST(SpectrumTest, flagged_devices_are_dots_beside_the_bars) {
  RunResult run = run_with_patterns(4);
  maker::scale_finding(run.devices[2], "global.read_bytes_per_s", 0.8);
  Json specs = charts_of(run);
  const Json& dots = entry_of(specs[0]["data"], "dots").at("values");
  ASSERT_EQ(dots.size(), 1u);
  EXPECT_EQ(dots[0].at("cycles"), 34);
  EXPECT_EQ(entry_of(specs[0]["scales"], "device").at("domain"),
            Json::array({chart_label(run.devices[2])}));
  EXPECT_EQ(specs[0]["legends"].size(), 2u);
  EXPECT_EQ(charts_of(run_with_patterns(4))[0]["legends"].size(), 1u) << "no empty legend";
}

TEST(SpectrumTest, without_patterns_there_is_no_chart) {
  EXPECT_TRUE(charts_of(maker::healthy_fleet(2, 7)).empty());
}

}  // namespace
}  // namespace sonde
