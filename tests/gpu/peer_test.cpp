// Chases and streams through the memory of another GPU of the node. Skipped with one GPU.
#include "base/error.hpp"
#include "gpu/gpu_test.hpp"

namespace sonde {
namespace {

class PeerGpuTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    const std::vector<DeviceChoice> choices = list_cuda_devices();
    if (choices.size() < 2) return;
    std::vector<NodeGpu> peers;
    for (std::size_t i = 1; i < choices.size(); ++i) {
      peers.push_back({.uuid = choices[i].uuid, .rank = static_cast<int>(i)});
    }
    peer_uuid_ = peers.front().uuid;
    device_ = open_cuda_device(choices.front(), 1, 0.1, peers);
  }
  static void TearDownTestSuite() { device_.reset(); }
  void SetUp() override {
    if (device_ == nullptr) GTEST_SKIP() << "fewer than two NVIDIA GPUs are visible";
  }
  Device& device() { return *device_; }

  StreamProbe stream(StreamKind kind) {
    StreamProbe probe;
    probe.kind = kind;
    probe.path = LoadPath::past_l1;
    probe.blocks = 2 * device().info().sm_count;
    probe.block_threads = 512;
    probe.ilp = 4;
    probe.footprint_bytes = 256_MiB;
    probe.passes = 4;
    probe.repeats = 3;
    probe.peer_uuid = peer_uuid_;
    return probe;
  }
  double bytes_per_s(const StreamProbe& probe) { return rate_of(probe, device().run(probe)); }

  inline static std::unique_ptr<Device> device_;
  inline static std::string peer_uuid_;
};

TEST_F(PeerGpuTest, the_memory_of_a_peer_is_further_than_the_own_one) {
  ChaseProbe probe = warm_chase(LoadPath::past_l1, shuffled_offsets(2_MiB, 4_KiB), 512);
  const double own_cycles = median(device().run(probe).lanes[0].window_cycles);
  probe.peer_uuid = peer_uuid_;
  const Trace trace = device().run(probe);

  ASSERT_EQ(trace.lanes[0].window_cycles.size(), 512u);
  const double peer_cycles = median(trace.lanes[0].window_cycles);
  EXPECT_GT(peer_cycles, 1.5 * own_cycles);
  EXPECT_LT(peer_cycles, 20'000);  // PCIe across sockets stays below 10 us
}

TEST_F(PeerGpuTest, streams_move_what_a_link_can) {
  const double read = bytes_per_s(stream(StreamKind::read));
  const double write = bytes_per_s(stream(StreamKind::write));
  const double both = bytes_per_s(stream(StreamKind::copy));
  for (const double rate : {read, write, both}) EXPECT_GT(rate, 1e9);
  EXPECT_LT(read, device().info().theoretical_bytes_per_s());
  EXPECT_GT(both, 0.9 * std::min(read, write));  // links are at least of one lane each way
}

TEST_F(PeerGpuTest, nvlink_of_a_hopper_moves_what_is_published) {
  if (device().info().compute_major != 9 || device().link_to(peer_uuid_) != PeerLink::nvlink) {
    GTEST_SKIP() << "no Hopper with NVLink";
  }
  // 18 lanes of 25 GB/s each way, less what packets cost.
  EXPECT_THAT(bytes_per_s(stream(StreamKind::read)), between(0.6 * 450e9, 450e9));
  EXPECT_LT(bytes_per_s(stream(StreamKind::copy)), 900e9);
}

TEST_F(PeerGpuTest, buffers_of_different_sizes_take_each_others_place) {
  StreamProbe probe = stream(StreamKind::write);
  probe.footprint_bytes = 2_MiB;
  EXPECT_NO_THROW(device().run(probe));
  probe.footprint_bytes = 512_MiB;
  EXPECT_NO_THROW(device().run(probe));
  EXPECT_NO_THROW(device().run(stream(StreamKind::copy)));
}

TEST_F(PeerGpuTest, the_own_memory_is_measured_as_before) {
  StreamProbe probe = stream(StreamKind::read);
  const double peer = bytes_per_s(probe);
  probe.peer_uuid.reset();
  EXPECT_GT(bytes_per_s(probe), 2 * peer);
}

TEST_F(PeerGpuTest, who_is_no_peer_is_refused_and_nothing_is_lost) {
  StreamProbe probe = stream(StreamKind::read);
  probe.peer_uuid = "GPU-00000000-0000-0000-0000-000000000000";
  EXPECT_THROW(device().run(probe), DeviceError);
  EXPECT_NO_THROW(device().run(stream(StreamKind::read)));
}

}  // namespace
}  // namespace sonde
