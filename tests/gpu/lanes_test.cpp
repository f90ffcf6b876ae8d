// Lanes of two load paths in one chase on a real GPU: two kernels at once, on the SMs that were
// asked for, whose loads meet in the caches that the paths share and in no others.
#include "gpu/gpu_test.hpp"

#include "base/error.hpp"

namespace sonde {
namespace {

/// A launch that got its SMs at once takes far less; one that looked for them in vain waits longer.
constexpr double longest_s = 0.05;

class LanesGpuTest : public GpuTest {
 protected:
  /// Each lane of `probe` in a chase of its own.
  Trace alone(ChaseProbe probe, std::size_t lane) {
    probe.lanes = {probe.lanes[lane]};
    return device().run(probe);
  }
};

ChaseLane make_lane(LoadPath path, std::uint64_t size_bytes, std::uint64_t step_bytes,
                    std::uint64_t base_bytes = 0) {
  ChaseLane lane{.sm = 0, .offsets_bytes = shuffled_offsets(size_bytes, step_bytes), .path = path};
  for (std::uint64_t& offset : lane.offsets_bytes) offset += base_bytes;
  return lane;
}

/// Warm chases on SM 0, all of them recorded.
ChaseProbe warm_lanes(std::vector<ChaseLane> lanes, std::uint64_t accesses) {
  ChaseProbe probe;
  std::size_t longest = 0;
  for (const ChaseLane& lane : lanes) {
    longest = std::max(longest, lane.offsets_bytes.size());
    const std::uint64_t access_bytes = lane.path == LoadPath::instruction ? code_block_bytes : 8;
    probe.buffer_bytes =
        std::max(probe.buffer_bytes, std::ranges::max(lane.offsets_bytes) + access_bytes);
  }
  probe.warmup_accesses = 2 * longest;
  probe.timed_accesses = probe.recorded_accesses = accesses;
  probe.lanes = std::move(lanes);
  return probe;
}

/// Of the accesses: how many took so much longer than a hit that another cache answered.
double share_missed(const LaneTrace& lane, double hit_cycles) {
  const auto missed = [&](std::uint32_t window) { return window > hit_cycles + 100; };
  return static_cast<double>(std::ranges::count_if(lane.window_cycles, missed)) /
         static_cast<double>(lane.window_cycles.size());
}

TEST_F(LanesGpuTest, read_only_loads_lose_lines_to_others_of_the_same_l1) {
  if (!is_hopper()) GTEST_SKIP() << "the size of the L1 array is known here for Hopper alone";
  // 0.7 of the L1: either list fits, both together do not.
  const ChaseProbe both = warm_lanes({make_lane(LoadPath::all_levels, 172_KiB, 128),
                                      make_lane(LoadPath::read_only, 172_KiB, 128, 256_KiB)},
                                     1376);
  const Trace beside = device().run(both);
  EXPECT_LT(beside.device_s, longest_s);
  for (std::size_t lane = 0; lane < 2; ++lane) {
    const Trace quiet = alone(both, lane);
    const double hit = median(quiet.lanes[0].window_cycles);
    EXPECT_EQ(quiet.shared_carveout_bytes, beside.shared_carveout_bytes);
    EXPECT_LT(share_missed(quiet.lanes[0], hit), 0.06) << lane;
    EXPECT_GT(share_missed(beside.lanes[lane], hit), 0.2) << lane;
  }
}

TEST_F(LanesGpuTest, lists_that_fit_together_stay_in_the_l1) {
  for (LoadPath path : {LoadPath::read_only, LoadPath::texture_1d}) {
    const ChaseProbe both = warm_lanes(
        {make_lane(LoadPath::all_levels, 32_KiB, 128), make_lane(path, 32_KiB, 128, 64_KiB)}, 512);
    const Trace beside = device().run(both);
    for (std::size_t lane = 0; lane < 2; ++lane) {
      const double hit = median(alone(both, lane).lanes[0].window_cycles);
      EXPECT_LT(share_missed(beside.lanes[lane], hit), 0.06) << to_text(path) << lane;
    }
  }
}

TEST_F(LanesGpuTest, constants_and_the_l1_do_not_disturb_each_other) {
  const ChaseProbe both = warm_lanes(
      {make_lane(LoadPath::constant, 16_KiB, 64), make_lane(LoadPath::all_levels, 96_KiB, 128)},
      768);
  const Trace beside = device().run(both);
  for (std::size_t lane = 0; lane < 2; ++lane) {
    const Trace quiet = alone(both, lane);
    const double hit = median(quiet.lanes[0].window_cycles);
    EXPECT_NEAR(median(beside.lanes[lane].window_cycles), hit, 4) << lane;
    EXPECT_NEAR(share_missed(beside.lanes[lane], hit), share_missed(quiet.lanes[0], hit), 0.06);
  }
}

TEST_F(LanesGpuTest, code_runs_beside_constants_and_loads_of_far_more_memory) {
  for (const ChaseLane& other : {make_lane(LoadPath::constant, 8_KiB, 64),
                                 make_lane(LoadPath::past_l1, 64_KiB, 128, 256_MiB)}) {
    const Trace beside = device().run(
        warm_lanes({other, make_lane(LoadPath::instruction, 8_KiB, code_block_bytes)}, 500));
    EXPECT_LT(beside.device_s, longest_s);
    for (const LaneTrace& lane : beside.lanes) EXPECT_EQ(lane.window_cycles.size(), 500u);
    EXPECT_LT(median(beside.lanes[1].window_cycles), 300);
  }
}

TEST_F(LanesGpuTest, lanes_lie_on_the_sms_and_in_the_order_that_were_asked_for) {
  const int last = device().info().sm_count - 1;
  ChaseProbe probe = warm_lanes(
      {make_lane(LoadPath::past_l1, 64_KiB, 128), make_lane(LoadPath::constant, 1_KiB, 64),
       make_lane(LoadPath::past_l1, 64_KiB, 128, 64_KiB), make_lane(LoadPath::constant, 1_KiB, 64)},
      300);
  for (const std::vector<int>& sms :
       {std::vector{0, 0, 0, 0}, {0, 1, 1, 0}, {last, 0, last, last}, {2, 3, 2, 1}}) {
    for (std::size_t lane = 0; lane < sms.size(); ++lane) probe.lanes[lane].sm = sms[lane];
    const Trace trace = device().run(probe);
    ASSERT_EQ(trace.lanes.size(), sms.size());
    EXPECT_LT(trace.device_s, longest_s);
    for (std::size_t lane = 0; lane < sms.size(); ++lane) {
      EXPECT_EQ(trace.lanes[lane].sm, sms[lane]);
      const bool constants = probe.lanes[lane].path == LoadPath::constant;
      EXPECT_EQ(median(trace.lanes[lane].window_cycles) < 100, constants) << lane;
    }
  }
}

TEST_F(LanesGpuTest, every_try_finds_room_on_every_sm) {
  ChaseProbe probe = warm_lanes(
      {make_lane(LoadPath::all_levels, 8_KiB, 128), make_lane(LoadPath::constant, 1_KiB, 64)}, 100);
  for (int sm = 0; sm < device().info().sm_count; ++sm) {
    probe.lanes[0].sm = probe.lanes[1].sm = sm;
    const Trace trace = device().run(probe);
    EXPECT_LT(trace.device_s, longest_s) << sm;
    EXPECT_EQ(trace.lanes[0].sm, sm);
    EXPECT_EQ(trace.lanes[1].sm, sm);
  }
}

TEST_F(LanesGpuTest, scripts_histograms_stores_and_flushes_play_beside_a_second_path) {
  ChaseLane many = make_lane(LoadPath::read_only, 4_KiB, 128, 64_KiB);
  const auto once = many.offsets_bytes;
  for (int i = 0; i < 5; ++i) {
    many.offsets_bytes.insert(many.offsets_bytes.end(), once.begin(), once.end());
  }
  many.stored_offsets_bytes = once;
  for (LoadPath path : {LoadPath::past_l1, LoadPath::texture_1d, LoadPath::texture_2d}) {
    ChaseProbe probe = warm_lanes({make_lane(path, 8_KiB, 128), many}, 1000);
    probe.recorded_accesses = 100;
    probe.preparation = Preparation::flushed;
    const Trace trace = device().run(probe);
    for (const LaneTrace& lane : trace.lanes) {
      std::uint64_t counted = 0;
      for (const WindowCount& bin : lane.histogram) counted += bin.accesses;
      EXPECT_EQ(counted, 1000u) << to_text(path);
    }
  }
}

TEST_F(LanesGpuTest, what_two_kernels_cannot_play_is_refused_and_does_no_harm) {
  const ChaseProbe good = warm_lanes(
      {make_lane(LoadPath::all_levels, 8_KiB, 128), make_lane(LoadPath::constant, 1_KiB, 64)}, 100);
  ChaseProbe in_turn = good;
  in_turn.concurrency = Concurrency::in_turn;
  EXPECT_THROW(device().run(in_turn), DeviceError);
  ChaseProbe long_one = good;
  long_one.timed_accesses = long_one.recorded_accesses = 80000;  // fits alone, not beside another
  EXPECT_THROW(device().run(long_one), DeviceError);
  EXPECT_NO_THROW(device().run(good));
}

}  // namespace
}  // namespace sonde
