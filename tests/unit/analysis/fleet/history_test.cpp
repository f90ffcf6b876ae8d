#include "analysis/fleet/history.hpp"

#include "unit/analysis/fleet/fleet_maker.hpp"

#include <gmock/gmock.h>

namespace sonde {
namespace {

using ::testing::HasSubstr;

TEST(HistoryTest, same_run_twice_has_no_changes) {
  const RunResult run = maker::healthy_fleet(4, 1);

  const RunComparison comparison = compare_runs(run, run, maker::options());

  EXPECT_EQ(comparison.paired, 4u);
  EXPECT_TRUE(comparison.changes.empty());
}

TEST(HistoryTest, device_is_compared_with_itself) {
  const RunResult before = maker::healthy_fleet(2, 1);
  RunResult after = before;
  std::swap(after.devices[0], after.devices[1]);  // another rank, the same UUID
  maker::scale_finding(after.devices[0], "global.read_bytes_per_s", 0.93);

  const RunComparison comparison = compare_runs(before, after, maker::options());

  ASSERT_EQ(comparison.changes.size(), 1u);
  EXPECT_EQ(comparison.changes[0].uuid, before.devices[1].info.uuid);
  EXPECT_EQ(comparison.changes[0].severity, Severity::fail);
  EXPECT_NEAR(comparison.changes[0].fraction, -0.07, 1e-9);
}

TEST(HistoryTest, one_sm_that_slowed_down_is_found_by_its_place) {
  const RunResult before = maker::healthy_fleet(1, 1);
  RunResult after = before;
  maker::slow_sm(after.devices[0], "placement.l2_latency_cycles", 99, 15);

  const RunComparison comparison = compare_runs(before, after, maker::options());

  ASSERT_EQ(comparison.changes.size(), 1u);
  EXPECT_THAT(comparison.changes[0].reason, HasSubstr("place 99 moved"));
}

TEST(HistoryTest, a_gradual_edge_may_lie_elsewhere_in_its_interval) {
  RunResult before = maker::healthy_fleet(1, 1);
  RunResult after = before;
  const auto set = [](RunResult& run, double low, double high) {
    Finding& size = maker::finding_of(run.devices[0], "cache.l2.size_bytes");
    size.value = (low + high) / 2;
    size.interval = {.low = low, .high = high};
  };
  set(before, 57e6, 59e6);
  set(after, 58.5e6, 60e6);
  EXPECT_TRUE(compare_runs(before, after, maker::options()).changes.empty());

  set(after, 40e6, 42e6);
  EXPECT_EQ(compare_runs(before, after, maker::options()).changes.size(), 1u);
}

TEST(HistoryTest, structure_may_not_change) {
  const RunResult before = maker::healthy_fleet(1, 1);
  RunResult after = before;
  maker::finding_of(after.devices[0], "cache.l1.replacement").value = std::string("fifo");

  const RunComparison comparison = compare_runs(before, after, maker::options());

  ASSERT_EQ(comparison.changes.size(), 1u);
  EXPECT_EQ(comparison.changes[0].severity, Severity::fail);
}

TEST(HistoryTest, structure_that_is_not_sure_is_compared_by_tolerance) {
  RunResult before = maker::healthy_fleet(1, 1);
  Finding& size = maker::finding_of(before.devices[0], "cache.l2.size_bytes");
  size.confidence = 0.5;
  RunResult after = before;
  maker::scale_finding(after.devices[0], "cache.l2.size_bytes", 1.01);
  RunResult far_after = before;
  maker::scale_finding(far_after.devices[0], "cache.l2.size_bytes", 1.10);

  EXPECT_TRUE(compare_runs(before, after, maker::options()).changes.empty());
  EXPECT_EQ(compare_runs(before, far_after, maker::options()).changes.size(), 1u);
}

TEST(HistoryTest, unpaired_devices_are_listed) {
  const RunResult before = maker::healthy_fleet(2, 1);
  RunResult after = before;
  after.devices[1].info.uuid = "GPU-new";

  const RunComparison comparison = compare_runs(before, after, maker::options());

  EXPECT_THAT(comparison.only_before, testing::ElementsAre(before.devices[1].info.uuid));
  EXPECT_THAT(comparison.only_after, testing::ElementsAre("GPU-new"));
}

}  // namespace
}  // namespace sonde
