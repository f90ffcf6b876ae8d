#include "device/probe/probe.hpp"

#include "base/error.hpp"
#include "support/stub_device.hpp"
#include "unit/device/refusals.hpp"

#include <gmock/gmock.h>
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
class EchoDevice final : public test::StubDevice {
 public:
  EchoDevice() : StubDevice(2) { info_.shared_bytes_per_block = 48 << 10; }

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
};

TEST(ProbeTest, recorded_accesses_carry_the_address_they_read) {
  EchoDevice device;

  const Trace trace = device.run(small_chase());

  // Four warm-up loads go round the list of three: recording begins at its second entry.
  EXPECT_THAT(trace.lanes.at(0).offsets_bytes, ElementsAre(8, 16, 0));
}

TEST(ProbeTest, chases_that_no_device_plays_are_refused) {
  expect_refused(small_chase(), {[](auto& probe) { probe.lanes[0].offsets_bytes.push_back(64); },
                                 [](auto& probe) { probe.lanes[0].offsets_bytes.push_back(12); },
                                 [](auto& probe) { probe.lanes[0].sm = 2; },
                                 [](auto& probe) { probe.amortised_accesses = 10; }});
  EchoDevice device;
  ChaseProbe probe = small_chase();
  probe.lanes[0].sm = 2;
  EXPECT_THROW(device.run(probe), Error) << "whoever runs it";
}

TEST(ProbeTest, offsets_lie_in_the_space_of_the_path_of_their_lane) {
  ChaseProbe probe = small_chase();
  probe.buffer_bytes = 1 << 20;
  probe.lanes = {{.sm = 0, .offsets_bytes = {(1 << 20) - 8}},
                 {.sm = 0, .offsets_bytes = {constant_bank_bytes - 8}, .path = LoadPath::constant},
                 {.sm = 1, .offsets_bytes = {256, 96}, .path = LoadPath::instruction}};
  expect_refused(probe,
                 {[](auto& wrong) { wrong.lanes[1].offsets_bytes.push_back(constant_bank_bytes); },
                  [](auto& wrong) { wrong.lanes[2].offsets_bytes.push_back(112); },
                  [](auto& wrong) { wrong.lanes[2].stored_offsets_bytes = {128}; }});
}

TEST(ProbeTest, a_chase_at_a_peer_is_of_plain_loads_alone) {
  ChaseProbe probe = small_chase();
  probe.peer_uuid = "GPU-1";
  EXPECT_THAT(describe_probe(probe), HasSubstr(R"("peer":"GPU-1")"));
  expect_refused(probe, {[](auto& wrong) { wrong.preparation = Preparation::flushed; },
                         [](auto& wrong) { wrong.lanes[0].stored_offsets_bytes = {0}; },
                         [](auto& wrong) { wrong.lanes[0].path = LoadPath::texture_1d; },
                         [](auto& wrong) { wrong.co_runners = {{.sm = 1, .offset_bytes = 0}}; }});
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

  EXPECT_THAT(describe_probe(probe), HasSubstr(R"("distance":3)"));
  expect_refused(
      probe, {[](auto& wrong) { wrong.distance = 4; }, [](auto& wrong) { wrong.accesses = 0; }});
  probe.kind = DsmKind::latency;  // all pairs: no distance
  probe.distance = 4;
  EXPECT_NO_THROW(validate_probe(probe, 2));
  EXPECT_THAT(describe_probe(probe), Not(HasSubstr("distance")));
}

TEST(ProbeTest, a_line_of_the_host_is_read_once) {
  HostProbe probe{.kind = HostKind::latency, .bytes = 1024, .accesses = 4, .sm = 1};

  EXPECT_THAT(describe_probe(probe), HasSubstr(R"("accesses":4)"));
  expect_refused(
      probe, {[](auto& wrong) { wrong.accesses = 5; }, [](auto& wrong) { wrong.bytes = 1000; }});
  probe.kind = HostKind::both;
  probe.accesses = 5;
  EXPECT_NO_THROW(validate_probe(probe, 2));
}

TEST(ProbeTest, branches_need_a_path_for_each_thread_of_a_warp) {
  BranchProbe probe{.path_of_thread = std::vector<int>(32, 0), .warps = 1, .sms = {0}};
  EXPECT_THAT(describe_probe(probe), HasSubstr("switch_cases"));
  expect_refused(probe, {[](auto& wrong) { wrong.path_of_thread.pop_back(); },
                         [](auto& wrong) { wrong.path_of_thread[3] = most_branch_paths; },
                         [](auto& wrong) {
                           wrong.sms = {1, 1};
                         }});
  probe.shape = BranchShape::nested;
  probe.depth = 2;
  probe.path_of_thread[3] = 3;
  EXPECT_THAT(describe_probe(probe), HasSubstr(R"("depth":2)"));
  expect_refused(probe, {[](auto& wrong) { wrong.path_of_thread[3] = 4; },
                         [](auto& wrong) { wrong.depth = most_branch_depth + 1; }});
}

TEST(ProbeTest, waits_barriers_sleeps_and_blocks_have_limits) {
  expect_refused(WaitProbe{.program = WaitProgram::spin_release, .limit_cycles = 1000, .sms = {0}},
                 {[](auto& wrong) { wrong.limit_cycles = 0; }});
  expect_refused(BarrierProbe{.barriers = 32, .sms = {0}},
                 {[](auto& wrong) { wrong.barriers = 33; },
                  [](auto& wrong) { wrong = {.kind = BarrierKind::grid, .warps = 2, .sms = {}}; }});
  expect_refused(SleepProbe{.asked_ns = 1000, .samples = 2, .sms = {0}},
                 {[](auto& wrong) { wrong.asked_ns = 2'000'000; }});
  EXPECT_NO_THROW(validate_probe(OccupancyProbe{255, 256, 0}, 2));
  expect_refused(OccupancyProbe{64, 1024, 0},
                 {[](auto& wrong) { wrong.registers_per_thread = 65; },  // for small blocks alone
                  [](auto& wrong) { wrong.registers_per_thread = 0; }});
}

TEST(ProbeTest, arithmetic_is_made_of_known_operations_and_whole_rounds) {
  ArithmeticProbe probe{.op = "float_fma", .warps = 8, .ilp = 4, .steps = 64};
  EXPECT_THAT(describe_probe(probe), Not(HasSubstr("second")));
  probe.second = "int_add";
  EXPECT_THAT(describe_probe(probe), HasSubstr(R"("second":"int_add")"));
  expect_refused(
      probe, {[](auto& wrong) { wrong.sms = {2}; }, [](auto& wrong) { wrong.steps = 63; },
              [](auto& wrong) { wrong.steps = 0; }, [](auto& wrong) { wrong.second = "float_tan"; },
              [](auto& wrong) { wrong.op = ""; },
              [](auto& wrong) { wrong = {.op = "wgmma_f16", .warps = 2, .steps = 256}; }});
}

TEST(ProbeTest, every_kind_of_probe_has_the_name_under_which_it_is_filed) {
  EXPECT_EQ(probe_kind(ChaseProbe{}), "chase");
  EXPECT_EQ(probe_kind(StreamProbe{}), "stream");
  EXPECT_EQ(probe_kind(ProgramProbe{}), "program");
  EXPECT_EQ(probe_kind(HostProbe{}), "host");
  EXPECT_EQ(probe_kind(ConstantStreamProbe{}), "constant_stream");
  EXPECT_EQ(probe_kind(LaunchProbe{}), "launch");
  EXPECT_EQ(probe_kind(ArithmeticProbe{}), "arithmetic");
  EXPECT_EQ(probe_kind(SharedAtomicProbe{}), "shared_atomic");
}

}  // namespace
}  // namespace sonde
