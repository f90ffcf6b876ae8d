// Streams with hints, of timed tiles and by the copy engine, on a real GPU.
#include "gpu/gpu_test.hpp"

#include "base/error.hpp"

#include <array>

namespace sonde {
namespace {

using StreamWaysGpuTest = GpuTest;

StreamProbe stream(Device& device, StreamKind kind, int threads, int blocks_per_sm, int ilp) {
  StreamProbe probe;
  probe.kind = kind;
  probe.blocks = device.info().sm_count * blocks_per_sm;
  probe.block_threads = threads;
  probe.ilp = ilp;
  probe.footprint_bytes = 1_GiB;
  probe.repeats = 3;
  return probe;
}

double rate(Device& device, const StreamProbe& probe) { return rate_of(probe, device.run(probe)); }

TEST_F(StreamWaysGpuTest, hints_change_no_data_and_bring_no_bandwidth_that_is_not_there) {
  for (const StreamKind kind : {StreamKind::read, StreamKind::write, StreamKind::copy}) {
    StreamProbe probe = stream(device(), kind, 512, 4, 4);
    const double plain = rate(device(), probe);
    for (const StreamHint hint :
         {StreamHint::no_allocate, StreamHint::evict_first, StreamHint::write_through}) {
      if (kind == StreamKind::write && hint == StreamHint::no_allocate) continue;
      if (kind == StreamKind::read && hint == StreamHint::write_through) continue;
      probe.hint = hint;
      const double hinted = rate(device(), probe);
      // Nobody says what stores through the L2 cost.
      EXPECT_THAT(hinted,
                  between((hint == StreamHint::write_through ? 0.05 : 0.5) * plain, 1.2 * plain));
    }
  }
}

TEST_F(StreamWaysGpuTest, the_copy_engine_copies_right_data_near_the_rate_of_threads) {
  if (device().info().compute_major < 9) GTEST_SKIP() << "no bulk copies before sm_90";
  const double limit = device().info().theoretical_bytes_per_s();
  for (const StreamKind kind : {StreamKind::read, StreamKind::copy}) {
    double best = 0;
    for (const int blocks_per_sm : {1, 2, 4}) {
      for (const int ilp : {8, 16, 32}) {
        StreamProbe probe = stream(device(), kind, bulk_threads, blocks_per_sm, ilp);
        probe.engine = StreamEngine::bulk;
        if (blocks_per_sm == 4 && ilp == 32) {
          EXPECT_THROW(device().run(probe), DeviceError) << "256 KiB of tiles";
          continue;
        }
        const double found = rate(device(), probe);
        EXPECT_LT(found, 1.05 * limit);
        best = std::max(best, found);
      }
    }
    EXPECT_GT(best, 0.6 * limit) << to_text(kind);
  }
}

TEST_F(StreamWaysGpuTest, few_tiles_are_copied_right_too) {
  if (device().info().compute_major < 9) GTEST_SKIP() << "no bulk copies before sm_90";
  for (const std::uint64_t tiles : {1, 2, 3, 5, 37, 137}) {
    for (const int blocks : {1, 7}) {
      StreamProbe probe = stream(device(), StreamKind::copy, bulk_threads, 1, 8);
      probe.engine = StreamEngine::bulk;
      probe.blocks = blocks;
      probe.passes = 2;
      probe.footprint_bytes = 2 * tiles * stream_tile_bytes(probe);
      EXPECT_NO_THROW(device().run(probe)) << tiles << " tiles, " << blocks << " blocks";
    }
  }
}

struct TileTimes {
  double mean_ns = 0;
  double bytes_per_s = 0;
  std::size_t sms = 0;
};

TileTimes time_tiles(Device& device, StreamProbe probe) {
  probe.timed_tiles = 4096;
  probe.repeats = 1;
  const Trace trace = device.run(probe);
  return {mean(all_windows(trace)) / trace.conditions.sm_clock_hz * 1e9,
          stream_bytes(probe) / trace.repeat_ns.at(0) * 1e9, trace.lanes.size()};
}

TEST_F(StreamWaysGpuTest, timed_tiles_obey_littles_law) {
  const int sm_count = device().info().sm_count;
  struct Row {
    int threads, blocks_per_sm, ilp;
  };
  double light_ns = 0;
  for (const Row& row : {Row{32, 1, 1}, Row{32, 1, 4}, Row{256, 1, 1}, Row{256, 2, 4},
                         Row{512, 2, 4}, Row{1024, 1, 1}}) {
    const StreamProbe probe =
        stream(device(), StreamKind::read, row.threads, row.blocks_per_sm, row.ilp);
    const TileTimes times = time_tiles(device(), probe);
    const double asked = 16.0 * row.threads * row.blocks_per_sm * row.ilp * sm_count;
    const double under_way = times.mean_ns * 1e-9 * times.bytes_per_s;
    if (light_ns == 0) light_ns = times.mean_ns;
    EXPECT_GT(times.sms, static_cast<std::size_t>(sm_count) / 2);
    EXPECT_THAT(under_way, between(0.5 * asked, 1.1 * asked))
        << "no more than the threads asked for";
    EXPECT_GT(times.mean_ns, 0.9 * light_ns);
  }
  if (is_hopper()) {
    EXPECT_THAT(light_ns, between(250, 900));
  }
}

TEST_F(StreamWaysGpuTest, additions_add_up_and_one_line_is_slower_than_many) {
  StreamProbe many = stream(device(), StreamKind::add, 1024, 2, 4);
  many.element_bytes = 4;
  many.footprint_bytes = 16_MiB;
  many.passes = 32;
  StreamProbe one = many;
  one.order = StreamOrder::same;
  one.footprint_bytes = 128;
  one.passes = 4096;
  one.block_threads = 32;
  one.ilp = 1;
  one.blocks = device().info().sm_count;
  const double of_many = rate(device(), many) / 4;
  const double of_one = rate(device(), one) / 4;
  EXPECT_GT(of_many, of_one);
  EXPECT_GT(of_one, 1e9 / 8) << "a warp's additions in 256 cycles at most";
  many.footprint_bytes = 64 * 12345;  // whole tiles and a rest
  EXPECT_NO_THROW(device().run(many));
}

/// The device looks at what was written and added, and refuses a stream whose data are wrong.
TEST_F(StreamWaysGpuTest, groups_of_sms_read_write_and_add_to_lists_of_chunks) {
  StreamProbe probe = stream(device(), StreamKind::read, 1024, 1, 4);
  probe.path = LoadPath::past_l1;
  probe.footprint_bytes = 16_MiB;
  probe.passes = 64;
  const double all = rate(device(), probe);
  for (int side = 0; side < 2; ++side) {
    StreamGroup& group = probe.groups.emplace_back();
    for (int sm = side; sm < device().info().sm_count; sm += 2) group.sms.push_back(sm);
    for (std::uint64_t at = 0; at < 1000; ++at)  // not all chunks, and other ones for each group
      group.chunk_offsets_bytes.push_back((at * 2 + static_cast<std::uint64_t>(side)) *
                                          stream_chunk_bytes);
  }
  const double halves = rate(device(), probe);
  EXPECT_THAT(halves, between(0.5 * all, 2.5 * all));
  probe.kind = StreamKind::write;
  EXPECT_GT(rate(device(), probe), 0.5e12);
  probe.kind = StreamKind::add;
  probe.path = LoadPath::all_levels;
  probe.element_bytes = 4;
  EXPECT_GT(rate(device(), probe), 0.5e12);
}

}  // namespace
}  // namespace sonde
