// Distributed shared memory on a real GPU.
#include "gpu/gpu_test.hpp"

#include "base/error.hpp"

#include <map>
#include <set>

namespace sonde {
namespace {

class DsmGpuTest : public GpuTest {
 protected:
  void SetUp() override {
    GpuTest::SetUp();
    if (!IsSkipped() && device().info().max_cluster_blocks == 0) {
      GTEST_SKIP() << "no thread block clusters";
    }
  }
  Trace chase(int blocks) { return device().run(DsmProbe{DsmKind::latency, blocks, 32}); }
  Trace stream(int distance, Concurrency concurrency) {
    return device().run(DsmProbe{DsmKind::stream, 4, 32, 1024, distance, concurrency});
  }
};

TEST_F(DsmGpuTest, every_pair_of_a_cluster_has_a_lane) {
  for (int blocks : {1, 2, 8, device().info().max_cluster_blocks}) {
    const Trace trace = chase(blocks);
    const auto size = static_cast<std::size_t>(blocks);
    const std::size_t squared = size * size;

    ASSERT_EQ(trace.lanes.size() % squared, 0u) << blocks;
    for (std::size_t i = 0; i < trace.lanes.size(); ++i) {
      EXPECT_EQ(trace.lanes[i].cluster, static_cast<int>(i / squared));
      EXPECT_EQ(trace.lanes[i].window_cycles.size(), 32u);
      EXPECT_EQ(trace.lanes[i].sm, trace.lanes[i - i % size].sm);
    }
    std::map<int, std::set<int>> sms;
    for (const LaneTrace& lane : trace.lanes) sms[lane.cluster].insert(lane.sm);
    for (const auto& [cluster, members] : sms) {
      EXPECT_EQ(members.size(), size) << cluster;
    }
  }
}

/// Own memory takes some 30 cycles; another SM's was seen between 140 and 260 on Hopper (Luo et
/// al., arXiv 2402.13499: 180).
TEST_F(DsmGpuTest, another_block_is_further_away_than_the_own) {
  const Trace trace = chase(4);
  std::vector<std::uint32_t> own, other;
  for (std::size_t i = 0; i < trace.lanes.size(); ++i) {
    const std::size_t reader = i % 16 / 4;
    const std::size_t target = i % 4;
    const auto& windows = trace.lanes[i].window_cycles;
    (reader == target ? own : other)
        .insert((reader == target ? own : other).end(), windows.begin(), windows.end());
  }
  EXPECT_THAT(median(own), between(15, 80));
  EXPECT_GT(median(other), 1.5 * median(own));
  if (is_hopper()) {
    EXPECT_THAT(median(other), between(120, 300));
  }
}

TEST_F(DsmGpuTest, streams_read_what_other_blocks_wrote) {
  for (Concurrency concurrency : {Concurrency::in_turn, Concurrency::together}) {
    for (int distance : {0, 1, 3}) {
      const Trace trace = stream(distance, concurrency);  // wrong data would throw

      EXPECT_EQ(trace.lanes.size() % 4, 0u);
      for (const LaneTrace& lane : trace.lanes) {
        const double bytes_per_cycle = static_cast<double>(lane.accesses) * dsm_element_bytes /
                                       static_cast<double>(lane.elapsed_cycles);
        EXPECT_GT(bytes_per_cycle, 1) << distance;
        EXPECT_LT(bytes_per_cycle, 140) << distance;  // banks of an SM: 128
      }
    }
  }
}

TEST_F(DsmGpuTest, impossible_probes_are_refused_and_the_next_one_runs) {
  EXPECT_THROW(chase(64), DeviceError);
  EXPECT_THROW(device().run(DsmProbe{DsmKind::stream, 2, 33, 1024, 1}), DeviceError);
  EXPECT_THROW(device().run(DsmProbe{DsmKind::stream, 2, 32, 4096, 1}), DeviceError);
  EXPECT_NO_THROW(chase(2));
}

}  // namespace
}  // namespace sonde
