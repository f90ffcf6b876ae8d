// Streams with hints, of timed tiles and by the copy engine, on simulated GPUs.
#include "engine_support.hpp"

#include <gtest/gtest.h>

#include <numeric>

namespace sonde::sim {
namespace {

StreamProbe reads(const Device& device, int threads, int blocks_per_sm, int ilp) {
  StreamProbe probe;
  probe.blocks = blocks_per_sm * device.info().sm_count;
  probe.block_threads = threads;
  probe.ilp = ilp;
  probe.footprint_bytes = 1ULL << 30;
  return probe;
}

double rate(Device& device, const StreamProbe& probe) {
  return stream_bytes(probe) / device.run(probe).repeat_ns.at(0) * 1e9;
}

/// Mean window of all timed tiles, less what reading the clock takes.
double tile_cycles(Device& device, StreamProbe probe, double overhead_cycles) {
  probe.timed_tiles = 1000;
  double sum_cycles = 0, tiles = 0;
  for (const LaneTrace& lane : device.run(probe).lanes) {
    EXPECT_EQ(lane.window_cycles.size(), lane.accesses);
    EXPECT_EQ(std::accumulate(lane.window_cycles.begin(), lane.window_cycles.end(), 0ULL),
              lane.elapsed_cycles);
    sum_cycles += static_cast<double>(lane.elapsed_cycles);
    tiles += static_cast<double>(lane.accesses);
  }
  EXPECT_GT(tiles, 100);
  EXPECT_LE(tiles, 1000);
  return sum_cycles / tiles - overhead_cycles;
}

TEST(StreamWaysTest, a_load_alone_takes_the_latency_of_the_memory) {
  const auto device = open_sim(quiet_json("gtx780"));  // 339 cycles, its clock 32
  EXPECT_NEAR(tile_cycles(*device, reads(*device, 32, 1, 1), 32), 339, 0.05 * 339);
}

TEST(StreamWaysTest, what_is_under_way_is_latency_times_rate) {
  const nlohmann::json model = quiet_json("h200");
  const auto device = open_sim(model);
  const double overhead_cycles = model["clock"]["sink_window_cycles"];
  for (const int ilp : {1, 4}) {
    const StreamProbe probe = reads(*device, 512, 2, ilp);  // all blocks resident
    const double latency_s =
        tile_cycles(*device, probe, overhead_cycles) / device->info().sm_clock_hz;
    const double bytes = 512.0 * 2 * ilp * 16 * device->info().sm_count;
    EXPECT_NEAR(latency_s * rate(*device, probe), bytes, 0.05 * bytes) << ilp;
  }
}

TEST(StreamWaysTest, loads_wait_longer_when_memory_is_saturated) {
  const auto device = open_sim(quiet_json("h200"));
  EXPECT_GT(tile_cycles(*device, reads(*device, 1024, 2, 4), 2),
            2 * tile_cycles(*device, reads(*device, 32, 1, 1), 2));
}

TEST(StreamWaysTest, loads_that_leave_no_line_behind_do_not_hit_in_the_l1) {
  const auto device = open_sim(quiet_json("h200"));
  StreamProbe probe = reads(*device, 1024, 1, 8);
  probe.footprint_bytes = 132ULL * 128 * 1024;  // 128 KiB for each SM
  probe.passes = 64;
  const double kept = rate(*device, probe);
  probe.hint = StreamHint::no_allocate;
  EXPECT_LT(rate(*device, probe), 0.7 * kept);
}

StreamProbe bulk(const Device& device, StreamKind kind) {
  StreamProbe probe = reads(device, bulk_threads, 4, 16);
  probe.kind = kind;
  probe.engine = StreamEngine::bulk;
  return probe;
}

TEST(StreamWaysTest, the_copy_engine_is_bound_by_the_memory_and_not_by_threads) {
  const auto device = open_sim(quiet_json("h200"));
  const double read = rate(*device, bulk(*device, StreamKind::read));
  EXPECT_NEAR(read, rate(*device, reads(*device, 1024, 2, 4)), 0.05 * read);
  EXPECT_LT(rate(*device, bulk(*device, StreamKind::copy)), read) << "the bus is turned round";
  // Little's law: no load is back before 540 cycles.
  StreamProbe few = bulk(*device, StreamKind::read);
  few.blocks = 8;
  const double bytes = 8.0 * bulk_stages * static_cast<double>(stream_tile_bytes(few));
  EXPECT_LT(rate(*device, few), bytes / (540 / 1.98e9));
}

TEST(StreamWaysTest, tiles_under_way_must_fit_into_shared_memory) {
  const auto device = open_sim(quiet_json("h200"));
  StreamProbe probe = bulk(*device, StreamKind::read);
  probe.ilp = 256;  // four tiles of 128 KiB
  EXPECT_THROW(device->run(probe), DeviceError);
}

TEST(StreamWaysTest, a_gpu_without_the_engine_refuses_bulk_copies) {
  const auto device = open_sim(quiet_json("gtx980"));
  EXPECT_THROW(device->run(bulk(*device, StreamKind::copy)), DeviceError);
}

}  // namespace
}  // namespace sonde::sim
