// Chases on a real GPU. Bands are those of published measurements, sources in docs/methods.
#include "gpu/gpu_test.hpp"

#include "base/error.hpp"

namespace sonde {
namespace {

using ChaseGpuTest = GpuTest;

TEST_F(ChaseGpuTest, l1_hits_are_narrow_and_in_the_published_band) {
  for (LoadPath path : {LoadPath::all_levels, LoadPath::read_only}) {
    const Trace trace = device().run(warm_chase(path, shuffled_offsets(16_KiB, 128), 2000));

    const auto& windows = trace.lanes.at(0).window_cycles;
    ASSERT_EQ(windows.size(), 2000u);
    const double middle = median(windows);
    const auto near = [middle](std::uint32_t w) { return std::abs(w - middle) <= 4; };
    EXPECT_GE(std::ranges::count_if(windows, near), 1980) << to_text(path);
    if (is_hopper()) {
      EXPECT_GE(middle, 31);
      EXPECT_LE(middle, 42);
    }
  }
}

TEST_F(ChaseGpuTest, bypassing_loads_are_served_by_the_l2) {
  const auto list = shuffled_offsets(16_KiB, 128);

  const double hit = median(windows_of(warm_chase(LoadPath::all_levels, list, 1000)));
  const double cg = median(windows_of(warm_chase(LoadPath::past_l1, list, 1000)));

  EXPECT_GT(cg, 3 * hit);
  if (is_hopper()) {
    EXPECT_GE(cg, 200);
    EXPECT_LE(cg, 310);
  }
}

TEST_F(ChaseGpuTest, l1_overflows_between_the_carveout_and_twice_the_array) {
  const std::uint64_t array_bytes = 256_KiB;
  if (!is_hopper()) GTEST_SKIP() << "the size of the L1 array is known here for Hopper alone";

  const auto small =
      device().run(warm_chase(LoadPath::all_levels, shuffled_offsets(128_KiB, 128), 2000));
  const auto large =
      device().run(warm_chase(LoadPath::all_levels, shuffled_offsets(2 * array_bytes, 128), 2000));

  EXPECT_LT(mean(small.lanes[0].window_cycles), 45);
  EXPECT_GT(mean(large.lanes[0].window_cycles), 200);
}

TEST_F(ChaseGpuTest, a_larger_shared_part_makes_the_l1_smaller) {
  const auto& carveouts = device().info().shared_carveouts_bytes;
  if (carveouts.empty()) GTEST_SKIP() << "shared memory and L1 are apart";
  ChaseProbe probe = warm_chase(LoadPath::all_levels, shuffled_offsets(64_KiB, 128), 1000);

  const Trace most_l1 = device().run(probe);
  probe.shared_carveout_bytes = carveouts.back();
  const Trace least_l1 = device().run(probe);

  EXPECT_EQ(least_l1.shared_carveout_bytes, carveouts.back());
  EXPECT_LT(most_l1.shared_carveout_bytes, carveouts.back());
  EXPECT_GT(mean(least_l1.lanes[0].window_cycles), 2 * mean(most_l1.lanes[0].window_cycles));
}

TEST_F(ChaseGpuTest, histogram_counts_every_timed_access_once) {
  ChaseProbe probe = warm_chase(LoadPath::all_levels, shuffled_offsets(8_KiB, 128), 5000);
  probe.recorded_accesses = 300;

  const LaneTrace lane = device().run(probe).lanes.at(0);

  EXPECT_EQ(lane.window_cycles.size(), 300u);
  std::uint64_t accesses = 0;
  for (const WindowCount& bin : lane.histogram) accesses += bin.accesses;
  EXPECT_EQ(accesses, 5000u);
}

TEST_F(ChaseGpuTest, amortised_loop_agrees_with_the_windows) {
  ChaseProbe probe = warm_chase(LoadPath::all_levels, shuffled_offsets(16_KiB, 128), 1000);
  const double window = median(windows_of(probe));
  probe.timed_accesses = probe.recorded_accesses = 0;
  probe.amortised_accesses = 50000;

  const double amortised = cycles_per_access(device().run(probe).lanes.at(0));

  EXPECT_LE(amortised, window);
  EXPECT_GE(amortised, window - 12);  // no more than the overhead of two clock reads and a store
}

TEST_F(ChaseGpuTest, lists_with_many_repeats_are_played_by_script) {
  const auto once = shuffled_offsets(8_KiB, 128);
  std::vector<std::uint64_t> many;
  for (int i = 0; i < 6; ++i) many.insert(many.end(), once.begin(), once.end());

  const double chain = median(windows_of(warm_chase(LoadPath::all_levels, once, 1000)));
  const double script = median(windows_of(warm_chase(LoadPath::all_levels, many, 1000)));

  EXPECT_NEAR(script, chain, 6);
  ChaseProbe amortised = warm_chase(LoadPath::all_levels, many, 0);
  amortised.amortised_accesses = 1000;
  EXPECT_THROW(device().run(amortised), DeviceError);
}

TEST_F(ChaseGpuTest, every_sm_can_be_measured_at_once_and_in_turn) {
  ChaseProbe probe = warm_chase(LoadPath::past_l1, shuffled_offsets(64_KiB, 128), 200);
  const ChaseLane lane = probe.lanes.front();
  probe.lanes.clear();
  for (int sm = 0; sm < device().info().sm_count; ++sm) {
    probe.lanes.push_back({sm, lane.offsets_bytes, {}, lane.path});
  }
  for (Concurrency concurrency : {Concurrency::together, Concurrency::in_turn}) {
    probe.concurrency = concurrency;
    const Trace trace = device().run(probe);
    ASSERT_EQ(trace.lanes.size(), probe.lanes.size());
    for (std::size_t i = 0; i < trace.lanes.size(); ++i) {
      EXPECT_EQ(trace.lanes[i].sm, static_cast<int>(i));
      EXPECT_GT(median(trace.lanes[i].window_cycles), 100);
    }
  }
}

TEST_F(ChaseGpuTest, co_runners_on_one_sm_share_its_l1) {
  const std::uint64_t array_bytes = 256_KiB;
  if (!is_hopper()) GTEST_SKIP() << "the size of the L1 array is known here for Hopper alone";
  // Either list fits the L1, both together do not.
  ChaseProbe probe = warm_chase(LoadPath::all_levels, shuffled_offsets(160_KiB, 128), 2000);
  const double alone = mean(windows_of(probe));
  ChaseLane second = probe.lanes.front();
  for (std::uint64_t& offset : second.offsets_bytes) offset += array_bytes;
  probe.buffer_bytes += array_bytes;
  probe.warmup_accesses *= 2;
  probe.lanes.push_back(second);

  // A lane that hits is fast, keeps its lines, and may leave all misses to the other.
  const auto slower_mean = [this](const ChaseProbe& both) {
    const Trace trace = device().run(both);
    return std::max(mean(trace.lanes[0].window_cycles), mean(trace.lanes[1].window_cycles));
  };
  const double together = slower_mean(probe);
  probe.lanes[1].sm = 1;
  const double apart = slower_mean(probe);

  EXPECT_GT(together, 2 * alone);
  EXPECT_NEAR(apart, alone, 3);
}

TEST_F(ChaseGpuTest, an_overlapped_warm_up_leaves_the_list_in_the_l2) {
  // A number of accesses that is no multiple of a warp's threads, and whole passes and a part.
  for (LoadPath path : {LoadPath::past_l1, LoadPath::all_levels, LoadPath::texture_1d}) {
    ChaseProbe probe = warm_chase(path, shuffled_offsets(4_MiB + 7 * 128, 128), 2000);
    const std::uint64_t length = probe.lanes.front().offsets_bytes.size();
    probe.preparation = Preparation::flushed;
    for (std::uint64_t warmup : {length, 2 * length, length + 1234}) {
      probe.warmup_accesses = warmup;
      probe.warm_up = WarmUp::dependent;
      const Trace dependent = device().run(probe);
      probe.warm_up = WarmUp::overlapped;
      const Trace overlapped = device().run(probe);

      // The same lines, at the same latency, in a fraction of the time.
      EXPECT_EQ(overlapped.lanes[0].offsets_bytes, dependent.lanes[0].offsets_bytes);
      EXPECT_NEAR(median(overlapped.lanes[0].window_cycles),
                  median(dependent.lanes[0].window_cycles), 12)
          << to_text(path) << " " << warmup;
      EXPECT_LT(overlapped.device_s, 0.7 * dependent.device_s);
    }
  }
}

/// Those of the line of the reductions wait for hundreds of cycles, most others for none.
TEST_F(ChaseGpuTest, lines_wait_behind_reductions_on_them) {
  const int sms = device().info().sm_count;
  if (sms < 64) GTEST_SKIP() << "co-runners of few SMs make no queue";
  ChaseProbe probe = warm_chase(LoadPath::atomic, shuffled_offsets(64_KiB, 128), 512);
  const Trace alone = device().run(probe);
  for (int sm = sms / 8; sm < sms; sm += 4) probe.co_runners.push_back({sm, 0});
  const Trace contended = device().run(probe);

  std::vector<std::uint32_t> excess;
  std::uint32_t of_own = 0;
  for (std::size_t i = 0; i < 512; ++i) {
    const std::uint32_t before = alone.lanes[0].window_cycles[i];
    excess.push_back(std::max(contended.lanes[0].window_cycles[i], before) - before);
    if (probe.lanes[0].offsets_bytes[i] == 0) of_own = excess.back();
  }
  EXPECT_GT(of_own, 100u);
  EXPECT_LT(median(excess), 100);
  EXPECT_NO_THROW(device().run(warm_chase(LoadPath::atomic, shuffled_offsets(64_KiB, 128), 512)));
}

TEST_F(ChaseGpuTest, flushed_memory_is_far) {
  ChaseProbe probe = warm_chase(LoadPath::all_levels, shuffled_offsets(1_MiB, 4096), 256);
  probe.warmup_accesses = 0;
  probe.preparation = Preparation::flushed;

  const double cold = median(windows_of(probe));

  EXPECT_GT(cold, is_hopper() ? 500 : 300);
}

TEST_F(ChaseGpuTest, probes_that_do_not_fit_are_refused_and_do_no_harm) {
  ChaseProbe probe = warm_chase(LoadPath::all_levels, shuffled_offsets(8_KiB, 128), 200000);
  EXPECT_THROW(device().run(probe), DeviceError);

  probe = warm_chase(LoadPath::all_levels, shuffled_offsets(8_KiB, 128), 100);
  probe.buffer_bytes = std::uint64_t{1} << 45;
  EXPECT_THROW(device().run(probe), DeviceError);

  probe.buffer_bytes = 8_KiB;
  EXPECT_NO_THROW(device().run(probe));
}

}  // namespace
}  // namespace sonde
