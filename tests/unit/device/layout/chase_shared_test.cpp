#include "device/layout/chase_shared.hpp"

#include "base/error.hpp"
#include "base/units.hpp"
#include "device/device_error.hpp"
#include "unit/device/layout/hopper.hpp"

#include <gtest/gtest.h>

namespace sonde::layout {
namespace {

constexpr std::uint64_t reserved_bytes = 1_KiB;

/// Lines 128 bytes apart, each `times` times.
ChaseLane lane_of(LoadPath path, std::uint64_t lines, std::uint64_t times = 1, int sm = 0) {
  ChaseLane lane{.sm = sm, .offsets_bytes = {}, .path = path};
  for (std::uint64_t i = 0; i < lines * times; ++i) {
    lane.offsets_bytes.push_back(i % lines * 128);
  }
  return lane;
}

ChaseProbe probe_of(std::vector<ChaseLane> lanes, std::uint64_t recorded) {
  ChaseProbe probe;
  probe.buffer_bytes = 1_MiB;
  probe.timed_accesses = probe.recorded_accesses = recorded;
  probe.lanes = std::move(lanes);
  return probe;
}

TEST(ChaseSharedTest, lists_of_code_always_stand_there_and_those_of_data_if_words_run_out) {
  EXPECT_TRUE(needs_script(probe_of({lane_of(LoadPath::instruction, 8)}, 8)));
  EXPECT_FALSE(needs_script(probe_of({lane_of(LoadPath::all_levels, 8, 4)}, 8)));
  EXPECT_TRUE(needs_script(probe_of({lane_of(LoadPath::all_levels, 8, 5)}, 8)));
  EXPECT_FALSE(needs_script(probe_of({lane_of(LoadPath::constant, 8, 8)}, 8)));
  EXPECT_TRUE(needs_script(probe_of({lane_of(LoadPath::texture_2d, 8, 3)}, 8)));
}

TEST(ChaseSharedTest, no_backend_times_a_loop_over_code) {
  ChaseProbe probe = probe_of({lane_of(LoadPath::instruction, 8)}, 8);
  EXPECT_NO_THROW(plan_chase(hopper(), probe));
  probe.amortised_accesses = 8;
  EXPECT_THROW(plan_chase(hopper(), probe), DeviceError);
}

TEST(ChaseSharedTest, records_lists_and_histograms_add_up) {
  ChaseProbe probe = probe_of({lane_of(LoadPath::instruction, 100)}, 1001);
  EXPECT_EQ(chase_shared_bytes(probe, false), 64 + 2004u);
  EXPECT_EQ(chase_shared_bytes(probe, true), 64 + 2004u + 400);
  probe.timed_accesses = 2000;
  EXPECT_EQ(chase_shared_bytes(probe, true), 64 + 2004u + 400 + histogram_bins * 4);
}

TEST(ChaseSharedTest, lanes_of_one_sm_share_a_block) {
  const ChaseLane first = lane_of(LoadPath::instruction, 100);
  EXPECT_EQ(chase_shared_bytes(probe_of({first, first}, 1000), true), 64 + 2 * 2400u);
  EXPECT_EQ(
      chase_shared_bytes(probe_of({first, lane_of(LoadPath::instruction, 200, 1, 1)}, 1000), true),
      64 + 2800u)
      << "the block of each SM has room for the longest list";
}

TEST(ChaseSharedTest, what_a_list_takes_cannot_be_recorded) {
  const std::uint64_t room_bytes = 227_KiB - 64;
  const std::uint64_t list = 3000;
  ChaseProbe probe = probe_of({lane_of(LoadPath::instruction, list)}, (room_bytes - list * 4) / 2);
  EXPECT_EQ(plan_chase(hopper(), probe).carveout_bytes, 228_KiB);
  probe.timed_accesses = ++probe.recorded_accesses;
  EXPECT_THROW(plan_chase(hopper(), probe), DeviceError);
  probe.lanes = {lane_of(LoadPath::all_levels, list)};
  EXPECT_EQ(plan_chase(hopper(), probe).carveout_bytes, 228_KiB) << "a chain lies in memory";
  probe.lanes = {lane_of(LoadPath::all_levels, list, 5)};
  EXPECT_THROW(plan_chase(hopper(), probe), ProbeTooLargeError) << "words run out";
}

TEST(ChaseSharedTest, lanes_of_two_paths_take_half_each) {
  ChaseProbe probe =
      probe_of({lane_of(LoadPath::all_levels, 100), lane_of(LoadPath::instruction, 100)}, 20000);
  EXPECT_EQ(plan_chase(hopper(), probe).carveout_bytes, 100_KiB);
  probe.timed_accesses = probe.recorded_accesses = 60000;
  EXPECT_THROW(plan_chase(hopper(), probe), DeviceError);
  probe.lanes.pop_back();
  EXPECT_EQ(plan_chase(hopper(), probe).carveout_bytes, 132_KiB);
}

}  // namespace
}  // namespace sonde::layout
