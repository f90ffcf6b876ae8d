// Streams with hints, of timed tiles and by the copy engine, on a real GPU.
#include "gpu/gpu_test.hpp"

#include "base/error.hpp"

#include <array>
#include <cmath>
#include <cstdio>
#include <string>

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

double rate(Device& device, const StreamProbe& probe) {
  const Trace trace = device.run(probe);
  return stream_bytes(probe) / *std::ranges::min_element(trace.repeat_ns) * 1e9;
}

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
      std::printf("%-5s %-13s %.0f GB/s, %.0f without hint\n", std::string(to_text(kind)).c_str(),
                  std::string(to_text(hint)).c_str(), hinted * 1e-9, plain * 1e-9);
      // Nobody says what stores through the L2 cost.
      EXPECT_GT(hinted, (hint == StreamHint::write_through ? 0.05 : 0.5) * plain);
      EXPECT_LT(hinted, 1.2 * plain);
    }
  }
}

TEST_F(StreamWaysGpuTest, hints_are_refused_where_they_are_not_compiled) {
  StreamProbe probe = stream(device(), StreamKind::read, 256, 1, 1);
  probe.hint = StreamHint::evict_first;
  probe.element_bytes = 8;
  EXPECT_THROW(device().run(probe), DeviceError);
}

TEST_F(StreamWaysGpuTest, elements_of_all_widths_come_near_each_other) {
  for (const StreamKind kind : {StreamKind::read, StreamKind::write, StreamKind::copy}) {
    StreamProbe probe = stream(device(), kind, 512, 4, 8);
    for (const int bytes : {4, 8, 16}) {
      probe.element_bytes = bytes;
      const double found = rate(device(), probe);
      std::printf("%-5s by %2d B %.0f GB/s\n", std::string(to_text(kind)).c_str(), bytes,
                  found * 1e-9);
      EXPECT_GT(found, 0.3 * device().info().theoretical_bytes_per_s());
      EXPECT_LT(found, 1.05 * device().info().theoretical_bytes_per_s());
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
        std::printf("bulk %-4s %d blocks on an SM, tiles of %2llu KiB: %.0f GB/s\n",
                    std::string(to_text(kind)).c_str(), blocks_per_sm,
                    static_cast<unsigned long long>(stream_tile_bytes(probe) / 1024), found * 1e-9);
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
  double deviation_ns = 0;
  double bytes_per_s = 0;
  std::size_t sms = 0;
};

TileTimes time_tiles(Device& device, StreamProbe probe) {
  probe.timed_tiles = 4096;
  probe.repeats = 1;
  const Trace trace = device.run(probe);
  double sum = 0, squares = 0, count = 0;
  for (const LaneTrace& lane : trace.lanes) {
    for (const std::uint32_t cycles : lane.window_cycles) {
      sum += cycles;
      squares += 1.0 * cycles * cycles;
      ++count;
    }
  }
  const double mean_cycles = sum / count;
  const double ns = 1e9 / trace.conditions.sm_clock_hz;
  return {mean_cycles * ns, std::sqrt(squares / count - mean_cycles * mean_cycles) * ns,
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
    std::printf(
        "%4d threads x %d x ILP %d: %.0f ns (deviation %.0f), %.0f GB/s: %.0f KiB under "
        "way of %.0f; plain %.0f GB/s\n",
        row.threads, row.blocks_per_sm, row.ilp, times.mean_ns, times.deviation_ns,
        times.bytes_per_s * 1e-9, under_way / 1024, asked / 1024, rate(device(), probe) * 1e-9);
    if (light_ns == 0) light_ns = times.mean_ns;
    EXPECT_GT(times.sms, static_cast<std::size_t>(sm_count) / 2);
    EXPECT_LT(under_way, 1.1 * asked) << "no more than the threads asked for";
    EXPECT_GT(under_way, 0.5 * asked);
    EXPECT_GT(times.mean_ns, 0.9 * light_ns);
  }
  if (is_hopper()) {
    EXPECT_GT(light_ns, 250);
    EXPECT_LT(light_ns, 900);
  }
}

TEST_F(StreamWaysGpuTest, blocks_that_do_not_loop_are_timed_too) {
  StreamProbe probe = stream(device(), StreamKind::read, 512, 1, 2);
  probe.blocks = static_cast<int>(probe.footprint_bytes / stream_tile_bytes(probe));
  const TileTimes times = time_tiles(device(), probe);
  std::printf("a block for each tile: %.0f ns (deviation %.0f), %.0f GB/s\n", times.mean_ns,
              times.deviation_ns, times.bytes_per_s * 1e-9);
  EXPECT_GT(times.sms, static_cast<std::size_t>(device().info().sm_count) / 2);
  EXPECT_GT(times.mean_ns, 250);
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
  std::printf("additions: %.1f G/s to lines apart, %.2f G/s to one line\n", of_many * 1e-9,
              of_one * 1e-9);
  EXPECT_GT(of_many, of_one);
  EXPECT_GT(of_one, 1e9 / 8) << "a warp's additions in 256 cycles at most";
  many.footprint_bytes = 64 * 12345;  // whole tiles and a rest
  EXPECT_NO_THROW(device().run(many));
}

/// By the latency of atomics of SM 0 to half chunks.
std::array<std::vector<std::uint64_t>, 2> chunks_by_home(Device& device, const StreamProbe& reads) {
  std::array<std::vector<std::uint64_t>, 2> chunks;
  constexpr std::uint64_t part_bytes = 256_KiB;
  std::vector<double> latencies;
  for (std::uint64_t at = 0; at < reads.footprint_bytes; at += part_bytes) {
    ChaseProbe chase;
    chase.buffer_bytes = reads.footprint_bytes;
    chase.place = reads.place;
    std::vector<std::uint64_t> offsets_bytes;
    for (std::uint64_t i = 0; i < part_bytes; i += stream_chunk_bytes) {
      offsets_bytes.push_back(at + i);
    }
    chase.warmup_accesses = chase.timed_accesses = chase.recorded_accesses = offsets_bytes.size();
    chase.lanes = {{0, std::move(offsets_bytes), {}, LoadPath::atomic}};
    for (const std::uint32_t cycles : device.run(chase).lanes.at(0).window_cycles) {
      latencies.push_back(cycles);
    }
  }
  std::vector<double> sorted = latencies;  // without outliers
  std::ranges::sort(sorted);
  const double middle = (sorted[sorted.size() / 20] + sorted[sorted.size() * 19 / 20]) / 2;
  for (std::size_t i = 0; i < latencies.size(); ++i) {
    chunks[latencies[i] > middle ? 1 : 0].push_back(i * stream_chunk_bytes);
  }
  return chunks;
}

TEST_F(StreamWaysGpuTest, groups_of_sms_read_lists_of_chunks_at_the_rate_of_the_l2) {
  StreamProbe probe = stream(device(), StreamKind::read, 1024, 1, 4);
  probe.path = LoadPath::past_l1;
  probe.footprint_bytes = 16_MiB;
  probe.passes = 64;
  const double all = rate(device(), probe);
  const auto chunks = chunks_by_home(device(), probe);
  ASSERT_FALSE(chunks[0].empty());
  ASSERT_FALSE(chunks[1].empty());
  std::array<std::vector<int>, 2> sms;  // not by side: any halves of the SMs
  for (int sm = 0; sm < device().info().sm_count; ++sm) sms[sm % 2 == 0 ? 0 : 1].push_back(sm);
  probe.groups = {{sms[0], chunks[0]}, {sms[1], chunks[1]}};
  const double halves = rate(device(), probe);
  std::printf("L2: %.0f GB/s apart, %.0f by lists (%zu chunks near SM 0, %zu far)\n", all * 1e-9,
              halves * 1e-9, chunks[0].size(), chunks[1].size());
  EXPECT_GT(halves, 0.5 * all);
  EXPECT_LT(halves, 2.5 * all);
}

/// The device looks at what was written and added, and refuses a stream whose data are wrong.
TEST_F(StreamWaysGpuTest, groups_of_sms_write_and_add_to_lists_of_chunks) {
  StreamProbe probe = stream(device(), StreamKind::write, 1024, 1, 4);
  probe.path = LoadPath::past_l1;
  probe.footprint_bytes = 16_MiB;
  probe.passes = 64;
  for (int side = 0; side < 2; ++side) {
    StreamGroup& group = probe.groups.emplace_back();
    for (int sm = side; sm < device().info().sm_count; sm += 2) group.sms.push_back(sm);
    for (std::uint64_t at = 0; at < 1000; ++at)  // not all chunks, and other ones for each group
      group.chunk_offsets_bytes.push_back((at * 2 + static_cast<std::uint64_t>(side)) *
                                          stream_chunk_bytes);
  }
  const double written = rate(device(), probe);
  probe.kind = StreamKind::add;
  probe.path = LoadPath::all_levels;
  probe.element_bytes = 4;
  const double added = rate(device(), probe);
  std::printf("L2 by lists: %.0f GB/s written, %.0f GB/s added to\n", written * 1e-9, added * 1e-9);
  EXPECT_GT(written, 0.5e12);
  EXPECT_GT(added, 0.5e12);
}

}  // namespace
}  // namespace sonde
