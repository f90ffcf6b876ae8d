// Streams of constants, launches and the clock under load on a real GPU.
#include "analysis/statistics.hpp"
#include "gpu/gpu_test.hpp"

#include "base/error.hpp"
#include "base/gpu_facts.hpp"

namespace sonde {
namespace {

class ConstantGpuTest : public GpuTest {
 protected:
  /// Half of a first cache of 2 KiB, word by word.
  Trace stream_l1(int warps, int threads, int sms) {
    return device().run(ConstantStreamProbe{first_sms(sms), warps, threads, 1024, 4,
                                            8192 / static_cast<std::uint64_t>(warps * threads)});
  }
  /// 48 KiB, line by line: far more than a first cache.
  Trace stream_l2(int warps, int threads, int sms) {
    return device().run(ConstantStreamProbe{first_sms(sms), warps, threads, 48 * 1024, 64,
                                            2048 / static_cast<std::uint64_t>(warps * threads)});
  }
};

struct Shape {
  int warps;
  int threads;
};

TEST_F(ConstantGpuTest, every_shape_loads_what_stands_in_the_bank) {
  for (const Shape& shape : {Shape{1, 1}, {1, 8}, {1, 32}, {4, 1}, {4, 8}, {16, 1}, {32, 1}}) {
    for (int sms : {1, 2, 7}) {
      // Wrong data would throw.
      const Trace trace = stream_l2(shape.warps, shape.threads, sms);
      ASSERT_EQ(trace.lanes.size(), static_cast<std::size_t>(sms));
      for (const LaneTrace& lane : trace.lanes) {
        EXPECT_EQ(lane.accesses, 2048u) << shape.warps << " x " << shape.threads;
        EXPECT_GT(lane.elapsed_cycles, 2048u);  // no SM loads two constants in a cycle
      }
    }
  }
  // Pieces of lengths that rows do not divide.
  EXPECT_NO_THROW(device().run(ConstantStreamProbe{{3}, 3, 5, 60 * 1024, 100, 8 * 37}));
}

TEST_F(ConstantGpuTest, a_second_cache_answers_later_than_the_first) {
  for (const Shape& shape : {Shape{1, 1}, {1, 8}, {8, 1}}) {
    const double first_cycles =
        cycles_per_access(stream_l1(shape.warps, shape.threads, 1).lanes.at(0));
    const double second_cycles =
        cycles_per_access(stream_l2(shape.warps, shape.threads, 1).lanes.at(0));
    EXPECT_GT(second_cycles, 1.1 * first_cycles) << shape.warps << " x " << shape.threads;
    EXPECT_LT(second_cycles, 400) << "slower than one load after the other";
  }
}

TEST_F(ConstantGpuTest, twice_as_many_sms_get_twice_as_much_of_the_first_cache) {
  const auto words_per_cycle = [&](int sms) {
    double loads = 0;
    std::uint64_t longest = 0;
    for (const LaneTrace& lane : stream_l1(4, 1, sms).lanes) {
      loads += static_cast<double>(lane.accesses);
      longest = std::max(longest, lane.elapsed_cycles);
    }
    return loads / static_cast<double>(longest);
  };
  EXPECT_THAT(words_per_cycle(16), between(14 * words_per_cycle(1), 16.5 * words_per_cycle(1)));
}

TEST_F(ConstantGpuTest, sms_with_two_blocks_load_twice_as_much) {
  for (const Shape& shape : {Shape{1, 1}, {1, 8}, {8, 1}}) {
    const auto threads = static_cast<std::uint64_t>(shape.warps * shape.threads);
    // Wrong data would throw.
    const Trace trace = device().run(ConstantStreamProbe{first_sms(4), shape.warps, shape.threads,
                                                         48 * 1024, 64, 2048 / threads, 2});
    ASSERT_EQ(trace.lanes.size(), 4u);
    for (std::size_t sm = 0; sm < 4; ++sm) {
      EXPECT_EQ(trace.lanes[sm].accesses, sm < 2 ? 4096u : 2048u);
    }
    EXPECT_LT(trace.lanes[0].elapsed_cycles, 3 * trace.lanes[3].elapsed_cycles);
  }
}

TEST_F(ConstantGpuTest, impossible_streams_are_refused_and_the_next_one_runs) {
  EXPECT_THROW(device().run(ConstantStreamProbe{{0}, 64, 1, 48 * 1024, 64, 8}), DeviceError);
  EXPECT_THROW(device().run(ConstantStreamProbe{{0}, 1, 1, 48 * 1024, 64, 12}), Error);
  EXPECT_NO_THROW(stream_l2(1, 1, 1));
}

using PaceGpuTest = GpuTest;

TEST_F(PaceGpuTest, launches_take_microseconds_and_follow_each_other) {
  const Trace lone = device().run(LaunchProbe{.launches = 1, .blocks = 1, .repeats = 200});
  const Trace row = device().run(LaunchProbe{.launches = 16, .blocks = 1, .repeats = 50});
  const double lone_ns = median(lone.repeat_ns);
  const double row_ns = median(row.repeat_ns);
  EXPECT_TRUE(lone.lanes.empty());
  EXPECT_THAT(lone_ns, between(1'000, 200'000));
  EXPECT_GT(row_ns, lone_ns);

  const int blocks = device().info().sm_count;
  const Trace busy = device().run(LaunchProbe{.launches = 4, .blocks = blocks, .busy_ns = 20'000});
  ASSERT_EQ(busy.lanes.size(), 4u * static_cast<std::size_t>(blocks));
  std::uint64_t end_before = 0;
  for (int launch = 0; launch < 4; ++launch) {
    std::uint64_t first = UINT64_MAX, last = 0, end = 0;
    for (const LaneTrace& lane : busy.lanes) {
      if (lane.cluster != launch) continue;
      first = std::min(first, lane.globaltimer_ns.at(0));
      last = std::max(last, lane.globaltimer_ns.at(0));
      end = std::max(end, lane.globaltimer_ns.at(1));
      EXPECT_GE(lane.globaltimer_ns[1] - lane.globaltimer_ns[0], 20'000u);
      EXPECT_GT(lane.clock_cycles[1], lane.clock_cycles[0]);
    }
    if (launch > 0) {
      EXPECT_GE(static_cast<std::int64_t>(first - end_before), -1024) << "a step of the timer";
      EXPECT_LT(static_cast<std::int64_t>(first - end_before), 100'000);
    }
    EXPECT_LT(last - first, 20'000u);
    end_before = end;
  }
}

TEST_F(PaceGpuTest, the_clock_keeps_its_pace_under_load) {
  const std::vector<int> sms = all_sms();
  for (SmWork work : {SmWork::arithmetic, SmWork::none}) {
    const Trace trace =
        device().run(PaceProbe{.work = work, .sms = sms, .samples = 41, .interval_ns = 500'000});
    ASSERT_EQ(trace.lanes.size(), sms.size());
    const LaneTrace& lane = trace.lanes[trace.lanes.size() / 2];
    ASSERT_EQ(lane.clock_cycles.size(), 41u);
    for (std::size_t i = 1; i < 41; ++i) {
      const double ns = static_cast<double>(lane.globaltimer_ns[i] - lane.globaltimer_ns[i - 1]);
      // A change of the clock under load halts the SMs: up to 63 us were seen on an H200.
      EXPECT_THAT(ns, between(0.5 * 500'000, 1.5 * 500'000));
      const double hz = static_cast<double>(lane.clock_cycles[i] - lane.clock_cycles[i - 1]) / ns;
      EXPECT_THAT(hz * 1e9,
                  between(0.1 * device().info().sm_clock_hz, 1.02 * device().info().sm_clock_hz));
    }
  }
}

}  // namespace
}  // namespace sonde
