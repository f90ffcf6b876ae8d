// What a run file keeps of its analysis: every column that docs/file-format.md promises is filled.
#include "analysis/fleet/reduce.hpp"
#include "commands/analyze.hpp"

#include "unit/analysis/fleet/fleet_maker.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace sonde {
namespace {

FleetRow row_of(const AnalysisRecord& record, std::string_view metric) {
  const auto found = std::ranges::find(record.fleet, metric, &FleetRow::metric);
  return found == record.fleet.end() ? FleetRow{} : *found;
}

TEST(AnalysisRecordTest, a_structural_metric_has_its_consensus_and_who_agrees) {
  RunResult run = maker::healthy_fleet(4, 1);
  maker::finding_of(run.devices[2], "cache.l1.size_bytes").value = 131072.0;

  const AnalysisRecord record = make_analysis_record(run, reduce_fleet(run, maker::options()));
  const FleetRow row = row_of(record, "cache.l1.size_bytes");

  EXPECT_EQ(row.unit, "byte");
  EXPECT_EQ(row.n, 4u);
  EXPECT_EQ(row.agreeing, 3u);
  EXPECT_EQ(row.consensus, "192 KiB");
}

TEST(AnalysisRecordTest, a_continuous_metric_has_its_unit_statistics_and_outliers) {
  RunResult run = maker::healthy_fleet(4, 1);
  maker::scale_finding(run.devices[2], "global.read_bytes_per_s", 0.8);

  const AnalysisRecord record = make_analysis_record(run, reduce_fleet(run, maker::options()));
  const FleetRow row = row_of(record, "global.read_bytes_per_s");

  EXPECT_EQ(row.group, "NVIDIA H200, 140 GiB, ECC on, driver 550");
  EXPECT_EQ(row.unit, "byte/s");
  EXPECT_NEAR(row.median, 4.5e12, 0.1e12);
  EXPECT_LT(row.min, 0.9 * row.median);
  EXPECT_GE(row.max, row.median);
  EXPECT_TRUE(row.outliers.starts_with(run.devices[2].info.uuid)) << row.outliers;
  EXPECT_EQ(row.consensus, "");
  ASSERT_FALSE(record.flags.empty());
  EXPECT_EQ(record.flags[0].uuid, run.devices[2].info.uuid);
  EXPECT_EQ(record.flags[0].severity, "fail");
  EXPECT_NEAR(record.flags[0].deviation_fraction, -0.2, 0.02);
  ASSERT_EQ(record.verdicts.size(), 4u);
  EXPECT_EQ(record.verdicts[2].uuid, run.devices[2].info.uuid);
  EXPECT_EQ(record.verdicts[2].verdict, "fail");
  EXPECT_EQ(record.verdicts[2].likely_class, "memory");
}

}  // namespace
}  // namespace sonde
