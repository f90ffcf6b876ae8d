#include "analysis/report/charts.hpp"

#include "unit/analysis/fleet/fleet_maker.hpp"

#include <gmock/gmock.h>

namespace sonde {
namespace {

using ::testing::HasSubstr;

using Cycles = std::vector<double>;

/// A device for each list, at footprints of 1, 2, 4, ... KiB.
RunResult run_with(const std::vector<Cycles>& stairs) {
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
  return run;
}

/// The fleet's chart, where nobody is flagged.
Json chart_of(const RunResult& run) {
  FleetAnalysis analysis;
  analysis.verdicts.resize(run.devices.size());
  return staircase_chart(run, analysis).value();
}

double top_cycles(Json& spec) { return entry_of(spec["scales"], "y").at("domain").at(1); }

Json outliers(Json& spec) { return entry_of(spec["data"], "outliers").at("values"); }

TEST(StaircaseChartTest, a_load_that_took_far_longer_does_not_press_the_stairs_flat) {
  Json spec = chart_of(run_with({{30, 30, 9000, 30, 280, 280}}));

  EXPECT_DOUBLE_EQ(top_cycles(spec), 1.08 * 280);
  ASSERT_EQ(outliers(spec).size(), 1u);
  EXPECT_THAT(outliers(spec)[0].at("text").get<std::string>(), HasSubstr("9000 cycles at 4 KiB"));
  EXPECT_EQ(entry_of(spec["data"], "points").at("values").at(2).at("beyond"), true);
}

TEST(StaircaseChartTest, the_highest_stair_is_no_outlier_even_of_one_point) {
  Json spec = chart_of(run_with({{30, 30, 30, 280, 280, 900}}));

  EXPECT_DOUBLE_EQ(top_cycles(spec), 1.08 * 900);
  EXPECT_TRUE(outliers(spec).empty());
}

TEST(StaircaseChartTest, what_is_a_little_higher_stays_on_the_axis) {
  Json spec = chart_of(run_with({{30, 30, 330, 280, 280, 280}}));

  EXPECT_DOUBLE_EQ(top_cycles(spec), 1.08 * 330);
  EXPECT_TRUE(outliers(spec).empty());
}

TEST(StaircaseChartTest, devices_far_above_the_others_are_named_once_each) {
  const Cycles well{30, 30, 280, 280};
  const Cycles slow{3000, 3000, 28000, 28000};

  Json one = chart_of(run_with({well, well, slow}));
  Json many = chart_of(
      run_with({slow, slow, slow, slow, slow, slow, well, well, well, well, well, well, well}));

  EXPECT_DOUBLE_EQ(top_cycles(one), 1.08 * 560);
  ASSERT_EQ(outliers(one).size(), 1u);
  EXPECT_THAT(outliers(one)[0].at("text").get<std::string>(),
              HasSubstr("28000 cycles at 4 KiB (and 3 more)"));
  ASSERT_EQ(outliers(many).size(), 5u);
  EXPECT_EQ(outliers(many)[4].at("text"), "and 2 more GPUs");
}

}  // namespace
}  // namespace sonde
