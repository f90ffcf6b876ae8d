#include "device/probe.hpp"

#include "base/error.hpp"
#include "device/device.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace sonde {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

ChaseProbe small_chase() {
  ChaseProbe probe;
  probe.buffer_bytes = 64;
  probe.lanes = {{0, {0, 8, 16}}};
  probe.warmup_accesses = 4;
  probe.timed_accesses = 5;
  probe.recorded_accesses = 5;
  return probe;
}

/// A device that answers each chase with as many windows as it was asked for.
class EchoDevice final : public Device {
 public:
  EchoDevice() {
    info_.sm_count = 2;
    info_.shared_bytes_per_block = 48 << 10;
  }
  const DeviceInfo& info() const override { return info_; }
  Health health() override { return {}; }

 protected:
  Trace play(const ProbeSpec& spec) override {
    const auto& probe = std::get<ChaseProbe>(spec);
    Trace trace;
    for (const ChaseLane& lane : probe.lanes) {
      LaneTrace result;
      result.sm = lane.sm;
      result.window_cycles.assign(probe.recorded_accesses, 100);
      trace.lanes.push_back(result);
    }
    return trace;
  }

 private:
  DeviceInfo info_;
};

TEST(ProbeTest, recorded_accesses_carry_the_address_they_read) {
  EchoDevice device;

  const Trace trace = device.run(small_chase());

  // Four warm-up loads go round the list of three: recording begins at its second entry.
  EXPECT_THAT(trace.lanes.at(0).offsets_bytes, ElementsAre(8, 16, 0));
}

TEST(ProbeTest, refuses_offsets_outside_the_buffer_or_unaligned) {
  EchoDevice device;
  ChaseProbe outside = small_chase();
  outside.lanes[0].offsets_bytes.push_back(64);
  ChaseProbe unaligned = small_chase();
  unaligned.lanes[0].offsets_bytes.push_back(12);

  EXPECT_THROW(device.run(outside), Error);
  EXPECT_THROW(device.run(unaligned), Error);
}

TEST(ProbeTest, refuses_an_sm_that_does_not_exist_and_mixed_timing) {
  EchoDevice device;
  ChaseProbe elsewhere = small_chase();
  elsewhere.lanes[0].sm = 2;
  ChaseProbe mixed = small_chase();
  mixed.amortised_accesses = 10;

  EXPECT_THROW(device.run(elsewhere), Error);
  EXPECT_THROW(device.run(mixed), Error);
}

TEST(ProbeTest, offsets_lie_in_the_space_of_the_path_of_their_lane) {
  EchoDevice device;
  ChaseProbe probe = small_chase();
  probe.buffer_bytes = 1 << 20;
  probe.lanes = {{.sm = 0, .offsets_bytes = {(1 << 20) - 8}},
                 {.sm = 0, .offsets_bytes = {constant_bank_bytes - 8}, .path = LoadPath::constant},
                 {.sm = 1, .offsets_bytes = {256}, .path = LoadPath::instruction}};
  EXPECT_NO_THROW(device.run(probe));

  ChaseProbe outside_the_bank = probe;
  outside_the_bank.lanes[1].offsets_bytes.push_back(constant_bank_bytes);
  EXPECT_THROW(device.run(outside_the_bank), Error);
  ChaseProbe inside_a_block = probe;
  inside_a_block.lanes[2].offsets_bytes.push_back(96);
  EXPECT_NO_THROW(device.run(inside_a_block));
  inside_a_block.lanes[2].offsets_bytes.push_back(112);
  EXPECT_THROW(device.run(inside_a_block), Error);
  ChaseProbe stored_code = probe;
  stored_code.lanes[2].stored_offsets_bytes = {128};
  EXPECT_THROW(device.run(stored_code), Error);
}

TEST(ProbeTest, a_chase_at_a_peer_is_of_plain_loads_alone) {
  EchoDevice device;
  ChaseProbe probe = small_chase();
  probe.peer_uuid = "GPU-1";
  EXPECT_NO_THROW(device.run(probe));
  EXPECT_THAT(describe_probe(probe), HasSubstr(R"("peer":"GPU-1")"));

  ChaseProbe flushed = probe;
  flushed.preparation = Preparation::flushed;
  EXPECT_THROW(device.run(flushed), Error);
  ChaseProbe storing = probe;
  storing.lanes[0].stored_offsets_bytes = {0};
  EXPECT_THROW(device.run(storing), Error);
  ChaseProbe texture = probe;
  texture.lanes[0].path = LoadPath::texture_1d;
  EXPECT_THROW(device.run(texture), Error);
  ChaseProbe disturbed = probe;
  disturbed.co_runners = {{.sm = 1, .offset_bytes = 0}};
  EXPECT_THROW(device.run(disturbed), Error);
}

TEST(ProbeTest, description_names_one_path_or_that_of_each_lane) {
  ChaseProbe probe = small_chase();
  probe.lanes.push_back(probe.lanes.front());
  EXPECT_THAT(describe_probe(probe), HasSubstr(R"("path":"ca")"));
  EXPECT_THAT(describe_probe(probe), Not(HasSubstr("lists")));

  probe.lanes[1].path = LoadPath::constant;

  EXPECT_EQ(common_path(probe), std::nullopt);
  const auto lists = nlohmann::json::parse(describe_probe(probe)).at("lists");
  ASSERT_EQ(lists.size(), 2u);
  EXPECT_EQ(lists[0].at("path"), "ca");
  EXPECT_EQ(lists[1].at("path"), "constant");
}

TEST(ProbeTest, a_chase_is_described_by_what_its_list_says) {
  const auto described = nlohmann::json::parse(describe_probe(small_chase()));

  EXPECT_EQ(described.at("footprint_bytes"), 24);
  EXPECT_EQ(described.at("distinct_offsets"), 3);
  EXPECT_EQ(described.at("steps"), 3);
  EXPECT_EQ(described.at("stride_bytes"), 8);
  EXPECT_FALSE(described.contains("offsets_bytes"));
  EXPECT_EQ(probe_kind(small_chase()), "chase");
}

TEST(ProbeTest, lanes_with_other_lists_are_described_one_by_one) {
  ChaseProbe probe = small_chase();
  probe.lanes.push_back({1, {0, 8, 16}});
  EXPECT_EQ(nlohmann::json::parse(describe_probe(probe)).at("footprint_bytes"), 24);

  probe.lanes.push_back({1, {0, 32}, {}, LoadPath::instruction});

  const auto described = nlohmann::json::parse(describe_probe(probe));
  EXPECT_FALSE(described.contains("footprint_bytes"));
  ASSERT_EQ(described.at("lists").size(), 2u) << "two lanes have equal lists";
  EXPECT_EQ(described["lists"][0].at("lanes"), 2);
  EXPECT_EQ(described["lists"][0].at("stride_bytes"), 8);
  EXPECT_EQ(described["lists"][1].at("lanes"), 1);
  EXPECT_EQ(described["lists"][1].at("footprint_bytes"), 64) << "to the end of a block of code";
}

/// A column of texts is as wide as its longest: one probe with a thousand lists made that of all
/// 128 KB.
TEST(ProbeTest, of_very_many_lists_the_first_are_described) {
  ChaseProbe probe = small_chase();
  probe.lanes.clear();
  for (std::uint64_t lane = 0; lane < 1000; ++lane) probe.lanes.push_back({1, {0, 8 * (lane + 1)}});

  const auto described = nlohmann::json::parse(describe_probe(probe));

  ASSERT_EQ(described.at("lists").size(), 16u);
  EXPECT_EQ(described["lists"][15].at("footprint_bytes"), 8 * 16 + 8);
  EXPECT_EQ(described.at("lanes_left_out"), 1000 - 16);
}

TEST(ProbeTest, a_record_costs_two_bytes_behind_the_sink) {
  EchoDevice device;

  EXPECT_EQ(device.recordable_accesses(64), 0u);
  EXPECT_EQ(device.recordable_accesses(64 + 2000), 1000u);
  EXPECT_EQ(device.recordable_accesses(1 << 20), ((48u << 10) - 64) / 2);
}

TEST(ProbeTest, streams_between_blocks_say_how_far_they_read) {
  DsmProbe probe{.kind = DsmKind::stream, .cluster_blocks = 4, .accesses = 8, .distance = 3};

  EXPECT_NO_THROW(validate_probe(probe, 2));
  EXPECT_EQ(probe_kind(probe), "dsm");
  EXPECT_THAT(describe_probe(probe), HasSubstr(R"("distance":3)"));
  probe.distance = 4;
  EXPECT_THROW(validate_probe(probe, 2), Error);
  probe.kind = DsmKind::latency;  // all pairs: no distance
  EXPECT_NO_THROW(validate_probe(probe, 2));
  EXPECT_THAT(describe_probe(probe), Not(HasSubstr("distance")));
  probe.accesses = 0;
  EXPECT_THROW(validate_probe(probe, 2), Error);
}

TEST(ProbeTest, a_line_of_the_host_is_read_once) {
  HostProbe probe{.kind = HostKind::latency, .bytes = 1024, .accesses = 4, .sm = 1};

  EXPECT_NO_THROW(validate_probe(probe, 2));
  EXPECT_EQ(probe_kind(probe), "host");
  EXPECT_THAT(describe_probe(probe), HasSubstr(R"("accesses":4)"));
  probe.accesses = 5;
  EXPECT_THROW(validate_probe(probe, 2), Error);
  probe.kind = HostKind::both;
  EXPECT_NO_THROW(validate_probe(probe, 2));
  EXPECT_THAT(describe_probe(probe), HasSubstr(R"("kind":"both")"));
  probe.bytes = 1000;
  EXPECT_THROW(validate_probe(probe, 2), Error);
}

BranchProbe small_branch() {
  return {.path_of_thread = std::vector<int>(32, 0), .warps = 1, .sms = {0}};
}

TEST(ProbeTest, branches_need_a_path_for_each_thread_of_a_warp) {
  BranchProbe few = small_branch();
  few.path_of_thread.pop_back();
  BranchProbe beyond = small_branch();
  beyond.path_of_thread[3] = most_branch_paths;
  BranchProbe twice = small_branch();
  twice.sms = {1, 1};

  EXPECT_NO_THROW(validate_probe(small_branch(), 2));
  EXPECT_THROW(validate_probe(few, 2), Error);
  EXPECT_THROW(validate_probe(beyond, 2), Error);
  EXPECT_THROW(validate_probe(twice, 2), Error);
  EXPECT_EQ(probe_kind(small_branch()), "branch");
  EXPECT_THAT(describe_probe(small_branch()), HasSubstr("switch_cases"));
}

TEST(ProbeTest, a_nest_has_as_many_paths_as_its_depth_gives) {
  BranchProbe probe = small_branch();
  probe.shape = BranchShape::nested;
  probe.depth = 2;
  probe.path_of_thread[3] = 3;
  EXPECT_NO_THROW(validate_probe(probe, 2));
  EXPECT_THAT(describe_probe(probe), HasSubstr(R"("depth":2)"));
  probe.path_of_thread[3] = 4;
  EXPECT_THROW(validate_probe(probe, 2), Error);
  probe.depth = most_branch_depth + 1;
  EXPECT_THROW(validate_probe(probe, 2), Error);
}

TEST(ProbeTest, waits_have_a_limit) {
  WaitProbe probe{.program = WaitProgram::spin_release, .limit_cycles = 1000, .sms = {0}};
  EXPECT_NO_THROW(validate_probe(probe, 2));
  EXPECT_THAT(describe_probe(probe), HasSubstr("spin_release"));
  probe.limit_cycles = 0;
  EXPECT_THROW(validate_probe(probe, 2), Error);
}

TEST(ProbeTest, barriers_come_in_groups_and_sleeps_are_short) {
  BarrierProbe barrier{.barriers = 32, .sms = {0}};
  EXPECT_NO_THROW(validate_probe(barrier, 2));
  barrier.barriers = 33;
  EXPECT_THROW(validate_probe(barrier, 2), Error);
  EXPECT_THROW(
      validate_probe(BarrierProbe{.kind = BarrierKind::grid, .warps = 2, .barriers = 16, .sms = {}},
                     2),
      Error);
  EXPECT_NO_THROW(validate_probe(SleepProbe{.asked_ns = 1000, .samples = 2, .sms = {0}}, 2));
  EXPECT_THROW(validate_probe(SleepProbe{.asked_ns = 2'000'000, .samples = 2, .sms = {0}}, 2),
               Error);
}

TEST(ProbeTest, many_registers_need_small_blocks) {
  EXPECT_NO_THROW(validate_probe(OccupancyProbe{64, 1024, 0}, 2));
  EXPECT_NO_THROW(validate_probe(OccupancyProbe{255, 256, 0}, 2));
  EXPECT_THROW(validate_probe(OccupancyProbe{65, 512, 0}, 2), Error);
  EXPECT_THROW(validate_probe(OccupancyProbe{0, 32, 0}, 2), Error);
}

TEST(ProbeTest, arithmetic_is_made_of_known_operations_and_whole_rounds) {
  ArithmeticProbe probe{.op = "float_fma", .warps = 8, .ilp = 4, .steps = 64};

  EXPECT_NO_THROW(validate_probe(probe, 2));
  EXPECT_EQ(probe_kind(probe), "arithmetic");
  EXPECT_THAT(describe_probe(probe), HasSubstr(R"("op":"float_fma")"));
  EXPECT_THAT(describe_probe(probe), Not(HasSubstr("second")));
  probe.second = "int_add";
  EXPECT_THAT(describe_probe(probe), HasSubstr(R"("second":"int_add")"));
  EXPECT_NO_THROW(validate_probe(probe, 2));
  probe.sms = {2};
  EXPECT_THROW(validate_probe(probe, 2), Error);
  probe.sms = {};
  probe.steps = 63;
  EXPECT_THROW(validate_probe(probe, 2), Error);
  probe.steps = 64;
  probe.second = "float_tan";
  EXPECT_THROW(validate_probe(probe, 2), Error);
  EXPECT_THROW(validate_probe(ArithmeticProbe{.op = "wgmma_f16", .warps = 2, .steps = 256}, 2),
               Error);
  EXPECT_THROW(validate_probe(ArithmeticProbe{.op = "", .steps = 256}, 2), Error);
  EXPECT_THROW(validate_probe(ArithmeticProbe{.op = "int_add"}, 2), Error);
}

}  // namespace
}  // namespace sonde
