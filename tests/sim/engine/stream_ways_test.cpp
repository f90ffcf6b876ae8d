// Streams with hints, of timed tiles and by the copy engine, on simulated GPUs.
#include "engine_support.hpp"

#include "device/sim/memory/memory_system.hpp"

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

TEST(StreamWaysTest, a_gpu_without_the_engine_refuses_bulk_copies) {
  const auto device = open_sim(quiet_json("gtx980"));
  EXPECT_THROW(device->run(bulk(*device, StreamKind::copy)), DeviceError);
  StreamProbe large = bulk(*open_sim(quiet_json("h200")), StreamKind::read);
  large.ilp = 256;  // four tiles of 128 KiB
  EXPECT_THROW(open_sim(quiet_json("h200"))->run(large), DeviceError);
}

StreamProbe adds(const Device& device, std::uint64_t footprint_bytes, int passes) {
  StreamProbe probe = reads(device, 1024, 2, 4);
  probe.kind = StreamKind::add;
  probe.element_bytes = 4;
  probe.footprint_bytes = footprint_bytes;
  probe.passes = passes;
  return probe;
}

TEST(StreamWaysTest, additions_to_one_line_are_made_one_after_the_other) {
  nlohmann::json model = quiet_json("h200");
  model["throughput"]["line_atomic_cycles"] = 4;
  const auto device = open_sim(model);
  StreamProbe one_line = adds(*device, 128, 4096);
  one_line.order = StreamOrder::same;
  one_line.block_threads = 32;
  one_line.ilp = 1;
  one_line.blocks = device->info().sm_count;
  EXPECT_NEAR(rate(*device, one_line), 128 / 4.0 * 1.98e9, 0.03 * 32 * 1.98e9);
  EXPECT_GT(rate(*device, adds(*device, 16 << 20, 128)), 50 * rate(*device, one_line));
}

/// The SMs of each partition, and the chunks that are at home there, as the model declares them.
std::vector<StreamGroup> declared_sides(const Model& model, std::uint64_t footprint_bytes,
                                        std::uint64_t buffer_offset_bytes) {
  const Die die = make_die(model, {}, die_seed(1, 0));
  MemorySystem memory(model, die);
  const ChaseLane lane{.sm = 0, .offsets_bytes = {0}, .path = LoadPath::past_l1};
  memory.begin_probe(buffer_offset_bytes, footprint_bytes, 0, {lane}, 1);
  std::vector<StreamGroup> groups(2);
  for (int sm = 0; sm < die.info.sm_count; ++sm) {
    groups[static_cast<std::size_t>(die.sm(sm).partition)].sms.push_back(sm);
  }
  for (std::uint64_t at = 0; at < footprint_bytes; at += stream_chunk_bytes) {
    const std::uint32_t home = memory.locate(memory.route_of(lane), at).home;
    groups[home].chunk_offsets_bytes.push_back(at);
  }
  return groups;
}

struct SideRates {
  double near = 0;
  double far = 0;
};

SideRates rates_of_sides(const nlohmann::json& json) {
  const auto device = open_sim(json);
  StreamProbe probe = reads(*device, 1024, 1, 4);
  probe.path = LoadPath::past_l1;
  probe.footprint_bytes = 16 << 20;
  probe.passes = 128;
  probe.groups = declared_sides(parse_model(json.dump(), "test"), probe.footprint_bytes,
                                device->run(probe).buffer_offset_bytes);
  SideRates rates;
  rates.near = rate(*device, probe);
  std::swap(probe.groups[0].sms, probe.groups[1].sms);
  rates.far = rate(*device, probe);
  return rates;
}

TEST(StreamWaysTest, far_lines_come_through_the_way_between_partitions_unless_copies_are_near) {
  nlohmann::json model = quiet_json("h200");
  model["partitions"]["crossing_bytes_per_cycle"] = 1000;
  const SideRates copied = rates_of_sides(model);
  EXPECT_NEAR(copied.far, copied.near, 0.01 * copied.near);
  model["partitions"]["replicate"] = false;
  const SideRates crossing = rates_of_sides(model);
  EXPECT_GT(crossing.near, 0.9 * 5200 * 1.98e9);
  EXPECT_NEAR(crossing.far, 2 * 1000 * 1.98e9, 0.05 * 2000 * 1.98e9);
}

/// The homes of lines are asked through a path whose first cache has a size for each carve-out.
TEST(StreamWaysTest, homes_are_found_where_no_carve_out_is_empty) {
  nlohmann::json model = quiet_json("h200");
  for (auto& cache : model["caches"]) {
    if (cache.contains("by_carveout")) cache["by_carveout"].erase(0);
  }
  model["device"]["shared_carveouts_bytes"].erase(0);
  ASSERT_GT(model["device"]["shared_carveouts_bytes"].at(0), 0);
  const auto device = open_sim(model);
  StreamProbe probe = adds(*device, 16 << 20, 128);
  StreamGroup& group = probe.groups.emplace_back();
  for (int sm = 0; sm < device->info().sm_count; ++sm) group.sms.push_back(sm);
  for (std::uint64_t at = 0; at < probe.footprint_bytes; at += stream_chunk_bytes)
    group.chunk_offsets_bytes.push_back(at);
  EXPECT_GT(rate(*device, probe), 0);
}

}  // namespace
}  // namespace sonde::sim
