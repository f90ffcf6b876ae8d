// Inventory, clocks and clusters of a real GPU.
#include "gpu/gpu_test.hpp"

#include "analysis/statistics.hpp"
#include "base/error.hpp"

#include <fmt/format.h>

#include <chrono>
#include <map>
#include <set>

namespace sonde {
namespace {

using DeviceGpuTest = GpuTest;

TEST_F(DeviceGpuTest, inventory_is_complete) {
  const DeviceInfo& info = device().info();

  EXPECT_TRUE(info.uuid.starts_with("GPU-") || info.uuid.starts_with("MIG-"));
  EXPECT_EQ(info.uuid.size(), 40u);
  EXPECT_FALSE(info.name.empty());
  EXPECT_GT(info.sm_count, 0);
  EXPECT_GT(info.l2_bytes, 0u);
  EXPECT_GT(info.memory_bytes, 1_GiB);
  EXPECT_GE(info.shared_bytes_per_sm, info.shared_bytes_per_block);
  EXPECT_GT(info.sm_clock_hz, 5e8);
  EXPECT_GT(info.theoretical_bytes_per_s(), 1e10);
}

TEST_F(DeviceGpuTest, another_uuid_is_refused) {
  EXPECT_THROW(open_cuda_device({"GPU-00000000-0000-0000-0000-000000000000", 0}, 1, 1),
               DeviceError);
}

TEST_F(DeviceGpuTest, clock_windows_are_constant_and_short) {
  for (ClockWindow window : {ClockWindow::empty, ClockWindow::sink}) {
    const Trace trace = device().run(ClockProbe{window, all_sms(), 500});

    ASSERT_EQ(trace.lanes.size(), static_cast<std::size_t>(device().info().sm_count));
    for (const LaneTrace& lane : trace.lanes) {
      const double middle = median(lane.window_cycles);
      EXPECT_LE(middle, 40);
      EXPECT_GE(std::ranges::count(lane.window_cycles, static_cast<std::uint32_t>(middle)), 490);
    }
  }
}

TEST_F(DeviceGpuTest, timestamps_rise_and_tell_the_clock) {
  const Trace trace = device().run(TimestampProbe{{0, 1}, 2000});

  for (const LaneTrace& lane : trace.lanes) {
    EXPECT_TRUE(std::ranges::is_sorted(lane.clock_cycles));
    EXPECT_TRUE(std::ranges::is_sorted(lane.globaltimer_ns));
    EXPECT_GT(lane.globaltimer_ns.back(), lane.globaltimer_ns.front());
  }
}

TEST_F(DeviceGpuTest, clusters_hold_distinct_sms) {
  if (device().info().max_cluster_blocks == 0) GTEST_SKIP() << "no thread block clusters";

  const Trace trace = device().run(ClusterProbe{2, 3});

  std::map<int, std::set<int>> clusters;
  for (const LaneTrace& lane : trace.lanes) clusters[lane.cluster].insert(lane.sm);
  EXPECT_GE(clusters.size(), 3u);
  for (const auto& [cluster, sms] : clusters) EXPECT_EQ(sms.size(), 2u) << cluster;
}

TEST_F(DeviceGpuTest, impossible_clusters_are_refused) {
  EXPECT_THROW(device().run(ClusterProbe{64, 1}), DeviceError);
}

// 54 counters of NVLinks take 40 ms of an H200, one by one or in one call.
TEST_F(DeviceGpuTest, health_links_and_errors_before_and_after_take_a_tenth_of_a_second) {
  std::vector<double> seconds;
  for (int reading = 0; reading < 10; ++reading) {
    const auto begin = std::chrono::steady_clock::now();
    for (int twice = 0; twice < 2; ++twice) {
      device().health();
      device().links();
      device().xids();
    }
    seconds.push_back(
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  }
  RecordProperty("median_s", fmt::format("{:.4f}", median(seconds)));
  EXPECT_LT(median(seconds), 0.1);
}

TEST_F(DeviceGpuTest, conditions_and_health_are_filled) {
  const Trace trace = device().run(ClockProbe{ClockWindow::empty, {0}, 10});

  EXPECT_EQ(trace.conditions.seed, 1u);
  EXPECT_GT(trace.conditions.start_unix_ns, 0);
  const Health health = device().health();
  if (health.sm_clock_hz > 0) {
    EXPECT_THAT(health.temperature_c, between(0, 110));
  }
  // This process has a context by now, and is no process of others.
  EXPECT_EQ(health.foreign_processes, device().info().foreign_processes);
}

}  // namespace
}  // namespace sonde
