#include "device/layout/path_parts.hpp"

#include "base/error.hpp"
#include "base/units.hpp"
#include "device/layout/place.hpp"
#include "support/thrown.hpp"

#include <gmock/gmock.h>

namespace sonde::layout {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

ChaseLane lane_of(LoadPath path, std::vector<std::uint64_t> offsets_bytes, int sm = 0) {
  return {.sm = sm, .offsets_bytes = std::move(offsets_bytes), .path = path};
}

ChaseProbe probe_of(std::vector<ChaseLane> lanes) {
  ChaseProbe probe;
  probe.buffer_bytes = 8_KiB;
  probe.place = 3;
  probe.warmup_accesses = 7;
  probe.lanes = std::move(lanes);
  return probe;
}

std::string refusal_of(const ChaseProbe& probe) {
  return test::thrown<DeviceError>([&] { split_by_path(probe); });
}

TEST(PathPartsTest, each_path_gets_its_lanes_and_all_else_of_the_chase) {
  const auto parts = split_by_path(
      probe_of({lane_of(LoadPath::all_levels, {0}, 4), lane_of(LoadPath::constant, {64}, 5),
                lane_of(LoadPath::all_levels, {128}, 6)}));

  ASSERT_EQ(parts.size(), 2u);
  for (const PathPart& part : parts) {
    ASSERT_EQ(part.lanes.size(), part.probe.lanes.size());
    EXPECT_EQ(part.probe.place, 3u);
    EXPECT_EQ(part.probe.warmup_accesses, 7u);
    EXPECT_EQ(part.probe.buffer_bytes, 8_KiB);
    const bool constants = part.probe.lanes.front().path == LoadPath::constant;
    if (constants) {
      EXPECT_THAT(part.lanes, ElementsAre(1));
      EXPECT_EQ(part.probe.lanes[0].sm, 5);
    } else {
      EXPECT_THAT(part.lanes, ElementsAre(0, 2));
      EXPECT_EQ(part.probe.lanes[0].sm, 4);
      EXPECT_EQ(part.probe.lanes[1].sm, 6);
    }
  }
}

/// There is far less code than memory: a backend refuses a probe that spans more of it.
TEST(PathPartsTest, code_comes_first_and_spans_what_is_executed) {
  ChaseProbe probe = probe_of({lane_of(LoadPath::past_l1, {0, 1_GiB}),
                               lane_of(LoadPath::instruction, {0, 3 * code_block_bytes + 96})});
  probe.buffer_bytes = 1_GiB + 8;
  const auto parts = split_by_path(probe);
  EXPECT_THAT(parts[0].lanes, ElementsAre(1));
  EXPECT_EQ(parts[0].probe.buffer_bytes, 4 * code_block_bytes);
  EXPECT_EQ(parts[1].probe.buffer_bytes, 1_GiB + 8);
}

TEST(PathPartsTest, a_texture_and_plain_memory_span_the_same_buffer) {
  for (LoadPath texture : {LoadPath::texture_1d, LoadPath::texture_2d}) {
    const auto parts =
        split_by_path(probe_of({lane_of(LoadPath::read_only, {0}), lane_of(texture, {4096})}));
    const auto span = [](const PathPart& part) {
      return rehearsal_behind(part.probe.lanes.front().path, part.probe.buffer_bytes).span_bytes;
    };
    EXPECT_GT(span(parts[0]), 8_KiB);
    EXPECT_EQ(span(parts[0]), span(parts[1])) << to_text(texture);
  }
}

TEST(PathPartsTest, what_two_kernels_cannot_play_is_refused) {
  const ChaseProbe right =
      probe_of({lane_of(LoadPath::all_levels, {0}), lane_of(LoadPath::constant, {0})});
  EXPECT_EQ(refusal_of(right), "nothing is wrong");
  const auto expect = [&](const char* text, auto change) {
    ChaseProbe probe = right;
    change(probe);
    EXPECT_THAT(refusal_of(probe), HasSubstr(text));
  };
  expect("one after the other", [](auto& probe) { probe.concurrency = Concurrency::in_turn; });
  expect("co-runners", [](auto& probe) { probe.co_runners = {{.sm = 1, .offset_bytes = 0}}; });
  expect("peer", [](auto& probe) { probe.peer_uuid = "GPU-1"; });
  expect("warm-up", [](auto& probe) { probe.warm_up = WarmUp::overlapped; });
  expect("3 load paths",
         [](auto& probe) { probe.lanes.push_back(lane_of(LoadPath::atomic, {64})); });
  expect("textures", [](auto& probe) {
    probe.lanes = {lane_of(LoadPath::texture_1d, {0}), lane_of(LoadPath::texture_2d, {4096})};
  });
}

TEST(PathPartsTest, paths_keep_out_of_each_others_sectors) {
  const auto beside = [](LoadPath path, std::uint64_t offset_bytes) {
    return probe_of({lane_of(LoadPath::all_levels, {64}), lane_of(path, {offset_bytes})});
  };
  EXPECT_THAT(refusal_of(beside(LoadPath::read_only, 64)), HasSubstr("one sector"));
  EXPECT_THAT(refusal_of(beside(LoadPath::texture_1d, 88)), HasSubstr("one sector"));
  EXPECT_EQ(refusal_of(beside(LoadPath::read_only, 96)), "nothing is wrong");
  EXPECT_EQ(refusal_of(beside(LoadPath::constant, 64)), "nothing is wrong");
  ChaseProbe storing = beside(LoadPath::read_only, 96);
  storing.lanes[1].stored_offsets_bytes = {72};
  EXPECT_THAT(refusal_of(storing), HasSubstr("one sector"));
}

}  // namespace
}  // namespace sonde::layout
