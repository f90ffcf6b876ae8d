// Streams and shared memory on a real GPU.
#include "gpu/gpu_test.hpp"

#include "base/error.hpp"

namespace sonde {
namespace {

using ThroughputGpuTest = GpuTest;

StreamProbe large_stream(Device& device, StreamKind kind) {
  StreamProbe probe;
  probe.kind = kind;
  probe.blocks = device.info().sm_count * 16;
  probe.block_threads = 512;
  probe.ilp = 8;
  probe.footprint_bytes = 2_GiB;
  probe.repeats = 3;
  return probe;
}

SharedChaseProbe shared_chase(std::uint32_t stride_words) {
  SharedChaseProbe probe;
  for (std::uint32_t thread = 0; thread < 32; ++thread) {
    probe.thread_offsets_bytes.push_back(thread * stride_words * 4);
  }
  probe.accesses = 640;
  probe.sms = {0, 1};
  return probe;
}

TEST_F(ThroughputGpuTest, streams_come_near_the_theoretical_bandwidth) {
  const double limit = device().info().theoretical_bytes_per_s();
  for (StreamKind kind : {StreamKind::read, StreamKind::write, StreamKind::copy}) {
    const StreamProbe probe = large_stream(device(), kind);
    const Trace trace = device().run(probe);

    ASSERT_EQ(trace.repeat_ns.size(), 3u);
    EXPECT_TRUE(trace.lanes.empty()) << "no SMs were chosen";
    EXPECT_THAT(rate_of(probe, trace), between(0.75 * limit, 1.01 * limit)) << to_text(kind);
  }
}

TEST_F(ThroughputGpuTest, every_shape_gives_right_data) {
  for (int element_bytes : {4, 8, 16}) {
    for (int ilp : {1, 2, 4, 8, 16}) {
      StreamProbe probe = large_stream(device(), StreamKind::copy);
      probe.element_bytes = element_bytes;
      probe.ilp = ilp;
      probe.block_threads = 80;  // no whole number of warps
      probe.blocks = 37;
      probe.footprint_bytes = 3 * 64 * 12345;  // whole tiles and a rest
      EXPECT_NO_THROW(device().run(probe)) << element_bytes << " B, ilp " << ilp;
    }
  }
}

TEST_F(ThroughputGpuTest, a_block_for_each_tile_is_no_slower_than_blocks_that_loop) {
  for (StreamKind kind : {StreamKind::read, StreamKind::write, StreamKind::copy}) {
    const StreamProbe looping = large_stream(device(), kind);
    StreamProbe probe = looping;
    probe.ilp = 4;
    probe.blocks = static_cast<int>(probe.footprint_bytes / (kind == StreamKind::copy ? 2 : 1) /
                                    stream_tile_bytes(probe));
    const double rate = rate_of(probe, device().run(probe));
    EXPECT_GT(rate, 0.97 * rate_of(looping, device().run(looping))) << to_text(kind);
  }
}

TEST_F(ThroughputGpuTest, lines_that_all_sms_want_come_faster_than_lines_of_their_own) {
  StreamProbe apart = large_stream(device(), StreamKind::read);
  apart.path = LoadPath::past_l1;
  apart.blocks = device().info().sm_count;
  apart.block_threads = 1024;
  apart.ilp = 4;
  apart.footprint_bytes = 16_MiB;
  apart.passes = 128;
  StreamProbe same = apart;
  same.order = StreamOrder::same;
  same.passes = 1;
  EXPECT_GT(rate_of(same, device().run(same)), rate_of(apart, device().run(apart)));
}

TEST_F(ThroughputGpuTest, few_sms_give_less_than_all) {
  StreamProbe probe = large_stream(device(), StreamKind::read);
  probe.footprint_bytes = 256_MiB;
  probe.blocks = 2;
  probe.sms = {0, 5};

  const Trace trace = device().run(probe);

  ASSERT_EQ(trace.lanes.size(), 2u);
  EXPECT_EQ(trace.lanes[1].sm, 5);
  EXPECT_LT(rate_of(probe, trace), 0.2 * device().info().theoretical_bytes_per_s());
}

TEST_F(ThroughputGpuTest, shared_conflicts_cost_more_with_each_way) {
  double last = 0;
  for (std::uint32_t stride : {1u, 2u, 4u, 8u, 16u, 32u}) {
    const Trace trace = device().run(shared_chase(stride));
    const double now = cycles_per_access(trace.lanes.at(0));
    EXPECT_GT(now, last + 1) << "stride " << stride;
    last = now;
  }
  const double free = cycles_per_access(device().run(shared_chase(33)).lanes.at(0));
  EXPECT_NEAR(free, cycles_per_access(device().run(shared_chase(1)).lanes.at(0)), 0.5);
  if (is_hopper()) {
    EXPECT_GE(free, 22);
    EXPECT_LE(free, 34);
  }
}

TEST_F(ThroughputGpuTest, eight_byte_words_take_two_wavefronts) {
  SharedChaseProbe probe = shared_chase(2);
  probe.element_bytes = 8;

  const double wide = cycles_per_access(device().run(probe).lanes.at(0));

  EXPECT_GT(wide, cycles_per_access(device().run(shared_chase(1)).lanes.at(0)) + 1);
}

TEST_F(ThroughputGpuTest, shared_copies_come_near_128_bytes_per_cycle) {
  SharedStreamProbe probe;
  probe.block_threads = 512;
  probe.ilp = 4;
  probe.element_bytes = 8;
  probe.passes = 1000;

  const Trace trace = device().run(probe);

  ASSERT_EQ(trace.lanes.size(), static_cast<std::size_t>(device().info().sm_count));
  for (const LaneTrace& lane : trace.lanes) {
    const double bytes = 2.0 * 8 * static_cast<double>(lane.accesses);
    EXPECT_GT(bytes / static_cast<double>(lane.elapsed_cycles), 100);
    EXPECT_LE(bytes / static_cast<double>(lane.elapsed_cycles), 129);
  }
}

/// CUDA programming guide, compute capability 5.x and later: 32 banks, a word of 4 bytes per cycle.
TEST_F(ThroughputGpuTest, a_bank_gives_a_word_in_each_cycle_to_loads) {
  for (int element_bytes : {4, 8}) {
    const Trace trace = device().run(SharedStreamProbe{.block_threads = 1024,
                                                       .ilp = shared_loads_in_row,
                                                       .element_bytes = element_bytes,
                                                       .passes = 1024,
                                                       .work = SharedWork::loads});
    ASSERT_EQ(trace.lanes.size(), static_cast<std::size_t>(device().info().sm_count));
    for (const LaneTrace& lane : trace.lanes) {
      const double bytes = element_bytes * static_cast<double>(lane.accesses);
      EXPECT_NEAR(bytes / static_cast<double>(lane.elapsed_cycles), 128, 3) << element_bytes;
    }
  }
}

TEST_F(ThroughputGpuTest, every_unroll_factor_of_the_sweep_copies_in_shared_memory) {
  for (int ilp : {1, 2, 4, 6, 8}) {
    SharedStreamProbe probe;
    probe.block_threads = 256;
    probe.ilp = ilp;
    probe.passes = 100;
    EXPECT_NO_THROW(device().run(probe)) << "ilp " << ilp;
  }
}

TEST_F(ThroughputGpuTest, what_is_not_compiled_or_not_there_is_refused) {
  StreamProbe shape = large_stream(device(), StreamKind::read);
  shape.ilp = 3;
  EXPECT_THROW(device().run(shape), DeviceError);
  StreamProbe hinted = large_stream(device(), StreamKind::read);
  hinted.hint = StreamHint::evict_first;
  hinted.element_bytes = 8;
  EXPECT_THROW(device().run(hinted), DeviceError);
  SharedChaseProbe banks = shared_chase(1);
  banks.bank_mode = BankMode::eight_bytes;
  EXPECT_THROW(device().run(banks), DeviceError);
}

}  // namespace
}  // namespace sonde
