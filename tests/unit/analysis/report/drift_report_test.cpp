#include "analysis/report/charts.hpp"
#include "analysis/report/content.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sonde {
namespace {

using ::testing::ElementsAre;

Drift drift_of(std::size_t device, const std::string& metric, double loss) {
  Drift drift{.device = device, .metric = metric, .unit = "byte/s", .better = Better::higher};
  for (const double hours : {0.0, 2.0, 4.0}) {
    drift.repeats.push_back({.unix_s = 1.7e9 + 3600 * hours,
                             .value = 4e12 * (1 - loss * hours / 4),
                             .sm_clock_hz = 1.98e9 - 0.03e9 * hours,
                             .temperature_c = 60 + 5 * hours});
  }
  // Ends of the lines that were fitted: no report tells them as readings.
  drift.value = {.first = 4e12, .last = 4e12 * (1 - loss), .deviation = 1e10};
  drift.sm_clock_hz = {.first = 2.02e9, .last = 1.81e9};
  drift.temperature_c = {.first = 55, .last = 98};
  return drift;
}

class DriftReportTest : public ::testing::Test {
 protected:
  DriftReportTest() {
    for (const char* uuid : {"GPU-1", "GPU-2"}) {
      run_.devices.emplace_back().info.uuid = uuid;
      run_.devices.back().node = "n1";
      run_.devices.back().rank = static_cast<int>(run_.devices.size()) - 1;
    }
    analysis_.drifts = {drift_of(0, "l2.read_bytes_per_s", 0.05),
                        drift_of(1, "global.read_bytes_per_s", 0.2),
                        drift_of(1, "l2.read_bytes_per_s", 0.1)};
  }
  RunResult run_;
  FleetAnalysis analysis_;
};

TEST_F(DriftReportTest, the_table_has_a_row_for_each_with_clock_and_temperature) {
  const TextTable table = drift_table(run_, analysis_);
  EXPECT_EQ(table.columns[2].title, "fitted change");
  ASSERT_EQ(table.rows.size(), 3);
  EXPECT_THAT(table.rows[0], ElementsAre("l2.read_bytes_per_s", "4 to 3.8 TB/s", "-5.0 %", "4.0 h",
                                         "20.0", "1.98 to 1.86 GHz", "60 to 80", "n1 rank 0"));
}

TEST_F(DriftReportTest, each_metric_has_one_chart_and_the_largest_change_comes_first) {
  Json charts = drift_charts(run_, analysis_);
  ASSERT_EQ(charts.size(), 2);
  EXPECT_EQ(charts[0]["title"]["text"], "global.read_bytes_per_s");
  const Json points = entry_of(charts[1]["data"], "points")["values"];
  ASSERT_EQ(points.size(), 6);  // of two devices
  EXPECT_EQ(points[2]["time"], 4);
  EXPECT_EQ(points[0]["value"], 4);
  EXPECT_EQ(entry_of(charts[1]["signals"], "time_unit")["value"], "hours");
  EXPECT_EQ(entry_of(charts[1]["signals"], "quantity")["value"], "TB/s");
  EXPECT_EQ(points[2]["temperature_c"], 80);
  EXPECT_EQ(points[2]["clock"], "1.86 GHz");
}

TEST_F(DriftReportTest, without_drifts_there_is_neither) {
  analysis_.drifts.clear();
  EXPECT_TRUE(drift_charts(run_, analysis_).empty());
  EXPECT_TRUE(drift_table(run_, analysis_).rows.empty());
}

}  // namespace
}  // namespace sonde
