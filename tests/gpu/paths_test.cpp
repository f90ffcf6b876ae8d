// Chases through the constant bank, textures, atomics and code, and with stores, on a real GPU: how
// the paths stand to each other, and that data stay whole.
#include "gpu/gpu_test.hpp"

#include "base/error.hpp"
#include "device/layout/chase_shared.hpp"

#include <algorithm>
#include <numeric>

namespace sonde {
namespace {

class PathsGpuTest : public GpuTest {
 protected:
  double hit_cycles(LoadPath path, std::uint64_t size_bytes, std::uint64_t step_bytes) {
    return median(windows_of(warm_chase(path, shuffled_offsets(size_bytes, step_bytes), 1000)));
  }
};

/// Every offset six times: no path has so many words in a sector, but for the constant bank's
/// eight.
std::vector<std::uint64_t> many_times(const std::vector<std::uint64_t>& offsets_bytes,
                                      int times = 6) {
  std::vector<std::uint64_t> many;
  for (int i = 0; i < times; ++i) {
    many.insert(many.end(), offsets_bytes.begin(), offsets_bytes.end());
  }
  return many;
}

TEST_F(PathsGpuTest, lists_and_records_take_the_shared_memory_that_the_layout_says) {
  for (LoadPath path : {LoadPath::instruction, LoadPath::all_levels, LoadPath::texture_2d}) {
    ChaseProbe probe = warm_chase(path, many_times(shuffled_offsets(16_KiB, 128)), 1);
    probe.buffer_bytes = 16_KiB;
    ASSERT_TRUE(layout::needs_script(probe));
    const std::uint64_t room_bytes = device().info().shared_bytes_per_block;
    const std::uint64_t least_bytes = layout::chase_shared_bytes(probe, true);
    probe.recorded_accesses += (room_bytes - least_bytes) / record_bytes;
    probe.timed_accesses = probe.recorded_accesses;
    EXPECT_EQ(device().run(probe).lanes.at(0).window_cycles.size(), probe.recorded_accesses)
        << to_text(path);
    probe.recorded_accesses += 2;
    probe.timed_accesses = probe.recorded_accesses;
    EXPECT_THROW(device().run(probe), DeviceError) << to_text(path);
  }
}

TEST_F(PathsGpuTest, constants_hit_fast_and_miss_their_first_cache_beyond_2_kib) {
  const double hit = hit_cycles(LoadPath::constant, 1_KiB, 64);
  const double second = hit_cycles(LoadPath::constant, 16_KiB, 64);
  const double whole_bank = hit_cycles(LoadPath::constant, constant_bank_bytes, 64);

  EXPECT_LT(hit, 60);
  EXPECT_GT(second, hit + 20);
  EXPECT_GE(whole_bank, second - 2);
}

TEST_F(PathsGpuTest, texture_hits_lie_between_those_of_the_l1_and_of_the_l2_which_answers_misses) {
  const double l1 = hit_cycles(LoadPath::all_levels, 8_KiB, 128);
  const double l2 = hit_cycles(LoadPath::past_l1, 8_KiB, 128);
  for (LoadPath path : {LoadPath::texture_1d, LoadPath::texture_2d}) {
    const double hit = hit_cycles(path, 8_KiB, 128);
    EXPECT_GE(hit, l1) << to_text(path);
    EXPECT_LT(hit, l2) << to_text(path);
    EXPECT_GT(hit_cycles(path, 4_MiB, 128), hit + (l2 - l1) / 2) << to_text(path);
  }
}

TEST_F(PathsGpuTest, atomics_are_answered_beyond_the_l1) {
  EXPECT_GE(hit_cycles(LoadPath::atomic, 8_KiB, 128), 150);
}

TEST_F(PathsGpuTest, every_path_plays_chains_scripts_and_amortised_loops_alike) {
  for (LoadPath path :
       {LoadPath::constant, LoadPath::texture_1d, LoadPath::texture_2d, LoadPath::atomic}) {
    const auto once = shuffled_offsets(1_KiB, 64);
    const auto windows = windows_of(warm_chase(path, once, 1000));
    const double chain = median(windows);
    const double script = median(windows_of(warm_chase(path, many_times(once, 9), 1000)));
    ChaseProbe probe = warm_chase(path, once, 0);
    probe.amortised_accesses = 20000;
    const double amortised = cycles_per_access(device().run(probe).lanes.at(0));

    EXPECT_NEAR(script, chain, 16) << to_text(path);
    // Atomics to near and far lines: the loop takes their mean, on whichever side the median is.
    EXPECT_LE(amortised, std::max(mean(windows), chain) + 1) << to_text(path);
    EXPECT_GE(amortised, chain / 2) << to_text(path);
  }
}

TEST_F(PathsGpuTest, offsets_of_a_two_dimensional_texture_go_down_its_rows) {
  // A column of rows: had the coordinates been mixed up, the chain would end elsewhere.
  const auto column = shuffled_offsets(64 * texture_row_bytes, texture_row_bytes);
  EXPECT_NO_THROW(windows_of(warm_chase(LoadPath::texture_2d, column, 1000)));
  EXPECT_NO_THROW(windows_of(warm_chase(LoadPath::texture_2d, many_times(column), 1000)));
}

TEST_F(PathsGpuTest, textures_that_do_not_exist_are_refused_and_do_no_harm) {
  ChaseProbe probe = warm_chase(LoadPath::texture_2d, shuffled_offsets(8_KiB, 128), 100);
  probe.buffer_bytes = 1_GiB;
  EXPECT_THROW(device().run(probe), DeviceError);
  probe.lanes[0].path = LoadPath::texture_1d;
  probe.buffer_bytes = 8_GiB;
  EXPECT_THROW(device().run(probe), DeviceError);
  probe.buffer_bytes = 8_KiB;
  EXPECT_NO_THROW(device().run(probe));
  probe.lanes[0].path = LoadPath::texture_2d;
  probe.lanes[0].stored_offsets_bytes = {0};
  EXPECT_THROW(device().run(probe), DeviceError) << "stores do not reach its array";
}

TEST_F(PathsGpuTest, stores_leave_the_chain_whole) {
  for (LoadPath path : {LoadPath::all_levels, LoadPath::past_l1, LoadPath::read_only,
                        LoadPath::uncached, LoadPath::texture_1d, LoadPath::atomic}) {
    for (int times : {1, 6}) {  // chains, and scripts
      const auto once = shuffled_offsets(8_KiB, 128);
      ChaseProbe probe = warm_chase(path, many_times(once, times), 1000);
      probe.lanes[0].stored_offsets_bytes = once;
      EXPECT_NO_THROW(windows_of(probe)) << to_text(path) << ", " << times << " times";
    }
  }
}

TEST_F(PathsGpuTest, stores_leave_the_other_lines_in_the_l1) {
  ChaseProbe probe = warm_chase(LoadPath::all_levels, shuffled_offsets(8_KiB, 128), 64);
  const double hit = median(windows_of(probe));
  probe.lanes[0].stored_offsets_bytes = {probe.lanes[0].offsets_bytes[0],
                                         probe.lanes[0].offsets_bytes[1]};

  const auto windows = windows_of(probe);

  const auto near = [hit](std::uint32_t w) { return w <= hit + 4; };
  EXPECT_GE(std::ranges::count_if(windows, near), 60);
}

ChaseProbe code_chase(std::uint64_t size_bytes, std::uint64_t accesses) {
  ChaseProbe probe =
      warm_chase(LoadPath::instruction, shuffled_offsets(size_bytes, code_block_bytes), accesses);
  probe.buffer_bytes = size_bytes;
  return probe;
}

TEST_F(PathsGpuTest, little_code_is_fetched_faster_than_much) {
  const double little = median(windows_of(code_chase(2_KiB, 1000)));
  const double more = median(windows_of(code_chase(64_KiB, 1000)));
  const double much = median(windows_of(code_chase(512_KiB, 4000)));

  EXPECT_LT(little, 200);
  EXPECT_GT(more, little + 10);
  EXPECT_GT(much, more + 30);
}

TEST_F(PathsGpuTest, one_block_of_code_is_always_as_fast) {
  const auto windows = windows_of(code_chase(code_block_bytes, 2000));

  const double middle = median(windows);
  const auto near = [middle](std::uint32_t w) { return std::abs(w - middle) <= 4; };
  EXPECT_GE(std::ranges::count_if(windows, near), 1980);
}

TEST_F(PathsGpuTest, code_runs_on_several_sms_and_in_several_lanes_of_one) {
  ChaseProbe probe = code_chase(8_KiB, 500);
  ChaseLane second = probe.lanes.front();
  probe.lanes.push_back(second);
  second.sm = 1;
  probe.lanes.push_back(second);

  const Trace trace = device().run(probe);

  ASSERT_EQ(trace.lanes.size(), 3u);
  for (const LaneTrace& lane : trace.lanes) EXPECT_EQ(lane.window_cycles.size(), 500u);
}

TEST_F(PathsGpuTest, more_code_than_there_is_is_refused) {
  EXPECT_THROW(windows_of(code_chase(64_MiB, 10)), DeviceError);
  ChaseProbe probe = code_chase(2_KiB, 0);
  probe.amortised_accesses = 100;
  EXPECT_THROW(device().run(probe), DeviceError);
  EXPECT_NO_THROW(windows_of(code_chase(2_KiB, 100)));
}

}  // namespace
}  // namespace sonde
