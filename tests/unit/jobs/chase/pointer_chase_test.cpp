// Chases that are longer than what a launch can record.
#include "jobs/chase/pointer_chase.hpp"

#include "device/device_error.hpp"
#include "support/stub_device.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace sonde {
namespace {

/// Takes as many cycles as an access has bytes of offset, and keeps the probes that it was asked.
class RecordingDevice final : public test::StubDevice {
 public:
  RecordingDevice() : StubDevice(2) {}

  std::vector<ChaseProbe> probes;
  // Of two lanes and more the lists stand there, too, as if they read the same lines.
  std::uint64_t shared_bytes = std::numeric_limits<std::uint64_t>::max();

 protected:
  Trace play(const ProbeSpec& spec) override {
    const auto& asked = std::get<ChaseProbe>(spec);
    const std::uint64_t list =
        asked.lanes.size() > 1 ? asked.lanes.front().offsets_bytes.size() : 0;
    if (2 * asked.recorded_accesses + 4 * list > shared_bytes)
      throw ProbeTooLargeError("too large");
    const ChaseProbe& probe = probes.emplace_back(asked);
    Trace trace;
    for (const ChaseLane& lane : probe.lanes) {
      LaneTrace& record = trace.lanes.emplace_back();
      for (std::uint64_t i = 0; i < probe.recorded_accesses; ++i) {
        const std::uint64_t at = (probe.warmup_accesses + i) % lane.offsets_bytes.size();
        record.window_cycles.push_back(static_cast<std::uint32_t>(lane.offsets_bytes[at]));
      }
    }
    return trace;
  }
};

class PointerChaseTest : public ::testing::Test {
 protected:
  RecordingDevice device;
  std::vector<JobResult> earlier;
  JobRun run{device, "cache.l1", SuiteLevel::standard, 1, earlier};
  ChaseSetup setup{.shared_carveout_bytes = {}, .recordable_accesses = 10};
};

TEST_F(PointerChaseTest, lanes_are_cut_into_launches_that_go_on_where_the_last_one_ended) {
  LaneChases chases{.warmup_accesses = 16, .recorded_accesses = 24, .most_at_once = 10};
  chases.lanes = {{.sm = 0, .offsets_bytes = ascending_order(64, 8)},
                  {.sm = 1, .offsets_bytes = descending_order(64, 8)}};

  const auto cycles = record_lanes(run, setup, "test", chases);

  EXPECT_EQ(device.probes.size(), 3U);
  ASSERT_EQ(cycles.size(), 2U);
  ASSERT_EQ(cycles[0].size(), 24U);
  for (std::size_t i = 0; i < 24; ++i) {
    EXPECT_EQ(cycles[0][i], 8.0 * static_cast<double>(i % 8));
    EXPECT_EQ(cycles[1][i], 56 - cycles[0][i]);
  }
}

TEST_F(PointerChaseTest, a_list_and_its_record_fill_the_room) {
  for (std::uint64_t recordable : {900, 1000, 116000}) {
    setup.recordable_accesses = recordable;
    const auto taken_bytes = [&](std::uint64_t list) { return 4 * list + 2 * list; };
    EXPECT_LE(taken_bytes(longest_recorded_list(setup)), 2 * recordable);
    EXPECT_GT(taken_bytes(longest_recorded_list(setup) + 1), 2 * recordable);
  }
}

class FullPointerChaseTest : public PointerChaseTest {
 protected:
  FullPointerChaseTest() {
    setup.recordable_accesses = 100;
    device.shared_bytes = 2 * setup.recordable_accesses;
  }
  /// Three lanes of which each has offsets of its own.
  static LaneChases lanes_of(std::uint64_t length) {
    LaneChases chases{.recorded_accesses = 2 * length, .most_at_once = 100};
    for (std::uint64_t lane = 0; lane < 3; ++lane) {
      Offsets& offsets =
          chases.lanes.emplace_back(ChaseLane{.sm = 0, .offsets_bytes = {}}).offsets_bytes;
      for (std::uint64_t i = 0; i < length; ++i) offsets.push_back((3 * i + lane) * 8);
    }
    return chases;
  }
  static void expect_whole(const std::vector<std::vector<double>>& cycles, std::uint64_t length) {
    ASSERT_EQ(cycles.size(), 3U);
    for (std::uint64_t lane = 0; lane < 3; ++lane) {
      ASSERT_EQ(cycles[lane].size(), 2 * length);
      for (std::uint64_t i = 0; i < 2 * length; ++i)
        EXPECT_EQ(cycles[lane][i], static_cast<double>((3 * (i % length) + lane) * 8));
    }
  }
};

TEST_F(FullPointerChaseTest, lists_that_stand_there_leave_less_to_record_at_once) {
  expect_whole(record_lanes(run, setup, "test", lanes_of(40)), 40);
  ASSERT_EQ(device.probes.size(), 4U);
  for (const ChaseProbe& probe : device.probes) {
    EXPECT_EQ(probe.lanes.size(), 3U);
    EXPECT_EQ(probe.recorded_accesses, 20U);
  }
}

TEST_F(FullPointerChaseTest, lanes_whose_lists_leave_no_pair_of_records_are_chased_by_halves) {
  for (const auto& [recordable, length] : {std::pair{100, 50}, std::pair{5, 2}}) {
    device.probes.clear();
    setup.recordable_accesses = static_cast<std::uint64_t>(recordable);
    device.shared_bytes = 2 * setup.recordable_accesses;
    const auto list = static_cast<std::uint64_t>(length);
    expect_whole(record_lanes(run, setup, "test", lanes_of(list)), list);
    EXPECT_EQ(device.probes.size(), 3U);
    for (const ChaseProbe& probe : device.probes) EXPECT_EQ(probe.lanes.size(), 1U);
  }
}

TEST_F(FullPointerChaseTest, a_record_that_is_too_large_by_itself_is_refused) {
  device.shared_bytes = 20;
  EXPECT_THROW(record_lanes(run, setup, "test", lanes_of(50)), ProbeTooLargeError);
}

TEST_F(PointerChaseTest, a_list_of_code_leaves_less_to_record_at_once) {
  setup.recordable_accesses = 100;
  const ChasePlan plan{.offsets = ascending_order(30 * 128, 128), .passes = 3};
  measure_chase(run, setup, "data", plan);
  EXPECT_EQ(device.probes.size(), 1U);
  setup.path = LoadPath::instruction;
  EXPECT_EQ(measure_chase(run, setup, "code", plan).cycles.size(), 90U);
  ASSERT_EQ(device.probes.size(), 4U);
  for (const ChaseProbe& probe : std::span(device.probes).subspan(1)) {
    EXPECT_LE(2 * probe.recorded_accesses + 4 * 30, 2 * setup.recordable_accesses);
  }
}

TEST_F(PointerChaseTest, passes_of_a_long_list_are_recorded_piece_by_piece) {
  ChasePlan plan;
  plan.offsets = ascending_order(200, 8);
  plan.skipped = 3;
  plan.passes = 2;

  const ChaseLatencies chase = measure_chase(run, setup, "test", plan);

  EXPECT_EQ(chase.positions, 22U);
  ASSERT_EQ(chase.passes(), 2U);
  for (std::size_t i = 0; i < chase.cycles.size(); ++i) {
    EXPECT_EQ(chase.cycles[i], 8.0 * static_cast<double>(3 + i % 22));
  }
}

TEST_F(PointerChaseTest, what_overflows_a_cache_is_warmed_up_once_by_overlapped_loads) {
  const ChasePlan plan = overflowing_plan(setup, 256, 8, 1, 4);

  measure_chase(run, setup, "test", plan);

  ASSERT_EQ(device.probes.size(), 1U);
  const ChaseProbe& probe = device.probes.front();
  EXPECT_EQ(probe.warmup_accesses, 32U);
  EXPECT_EQ(probe.warm_up, WarmUp::overlapped);
  EXPECT_EQ(probe.recorded_accesses, 4U);
}

TEST_F(PointerChaseTest, long_lists_are_warmed_up_by_overlapped_loads_and_short_ones_are_not) {
  setup.recordable_accesses = 64;
  for (const std::uint64_t length : {8, 40000}) {
    measure_chase(run, setup, "test",
                  {.offsets = ascending_order(8 * length, 8), .warmup_passes = 2, .recorded = 8});
    EXPECT_EQ(device.probes.back().warm_up, length == 8 ? WarmUp::dependent : WarmUp::overlapped);
    EXPECT_EQ(device.probes.back().warmup_accesses, 2 * length);
  }
}

}  // namespace
}  // namespace sonde
