#include "analysis/fleet/grounds/grounds.hpp"
#include "analysis/fleet/verdict/reduce.hpp"
#include "unit/analysis/fleet/fleet_maker.hpp"

#include <gmock/gmock.h>

namespace sonde {
namespace {

using maker::read;
using ::testing::HasSubstr;
using ::testing::StartsWith;

/// The verdicts of a run that is held against another.
FleetAnalysis judged(const RunResult& before, const RunResult& after) {
  FleetAnalysis analysis = reduce_fleet(after, maker::options());
  judge_by_baseline(after, compare_runs(before, after, maker::registry), analysis);
  return analysis;
}

TEST(BaselineTest, a_gpu_alone_that_became_slower_fails_and_one_that_became_faster_passes) {
  const RunResult before = maker::healthy_fleet(1, 1);
  RunResult after = before;
  maker::scale_finding(after.devices[0], read, 0.9);
  ASSERT_EQ(exit_status(reduce_fleet(after, maker::options())), ExitStatus::ok);

  const FleetAnalysis analysis = judged(before, after);

  EXPECT_EQ(analysis.verdicts[0].verdict, Verdict::fail);
  EXPECT_EQ(analysis.verdicts[0].likely, Trouble::memory_rate);
  EXPECT_THAT(analysis.verdicts[0].reason,
              StartsWith("changed since the baseline: global.read_bytes_per_s -10"));
  EXPECT_EQ(exit_status(analysis), ExitStatus::verdict);
  EXPECT_EQ(exit_status(compare_runs(before, after, maker::registry)), ExitStatus::verdict);

  maker::scale_finding(after.devices[0], read, 1.1 / 0.9);
  EXPECT_EQ(judged(before, after).verdicts[0].verdict, Verdict::pass);
  EXPECT_EQ(exit_status(compare_runs(before, after, maker::registry)), ExitStatus::ok);
}

TEST(BaselineTest, the_verdict_is_that_of_the_device_wherever_it_stands_now) {
  const RunResult before = maker::healthy_fleet(3, 1);
  RunResult after = before;
  std::swap(after.devices[0], after.devices[2]);
  maker::scale_finding(after.devices[0], "latency.dram_cycles", 1.2);
  maker::scale_finding(after.devices[1], "latency.dram_cycles", 1.2);
  maker::scale_finding(after.devices[2], "latency.dram_cycles", 1.2);
  after.devices.erase(after.devices.begin() + 1);

  const FleetAnalysis analysis = judged(before, after);

  EXPECT_EQ(analysis.counts.failed, 2u);  // peers that are slow together see nothing
  EXPECT_THAT(analysis.verdicts[1].reason, HasSubstr("latency.dram_cycles +20 %"));
}

TEST(BaselineTest, structure_of_another_suite_warns_and_says_so) {
  RunResult before = maker::healthy_fleet(1, 1);
  RunResult after = before;
  maker::finding_of(after.devices[0], "cache.l1.replacement").value = std::string("random");
  before.provenance.config_json = R"({"suite": "quick", "jobs": []})";
  after.provenance.config_json = R"({"suite": "standard", "jobs": []})";

  const RunComparison comparison = compare_runs(before, after, maker::registry);

  EXPECT_EQ(comparison.other_options, "suite \"quick\" before, \"standard\" after");
  ASSERT_EQ(comparison.changes.size(), 1u);
  EXPECT_EQ(comparison.changes[0].charge.severity, Severity::warn);
  EXPECT_EQ(exit_status(comparison), ExitStatus::ok);
  after.provenance.config_json = before.provenance.config_json;
  EXPECT_EQ(exit_status(compare_runs(before, after, maker::registry)), ExitStatus::verdict);
}

}  // namespace
}  // namespace sonde
