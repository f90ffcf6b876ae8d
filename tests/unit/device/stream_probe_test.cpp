// The seam's streams: which combinations are refused, what the description tells, which bytes
// count.
#include "unit/device/refusals.hpp"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

namespace sonde {
namespace {

StreamProbe stream(StreamKind kind) {
  StreamProbe probe;
  probe.kind = kind;
  probe.blocks = 4;
  probe.block_threads = 32;
  probe.ilp = 8;
  probe.footprint_bytes = 65536;
  return probe;
}

TEST(StreamProbeTest, hints_need_the_accesses_that_carry_them) {
  expect_refused(stream(StreamKind::write),
                 {[](auto& probe) { probe.hint = StreamHint::no_allocate; }});
  expect_refused(stream(StreamKind::read),
                 {[](auto& probe) { probe.hint = StreamHint::write_through; }});
  StreamProbe copy = stream(StreamKind::copy);
  for (const StreamHint hint :
       {StreamHint::no_allocate, StreamHint::evict_first, StreamHint::write_through}) {
    copy.hint = hint;
    EXPECT_NO_THROW(validate_probe(copy, 2)) << to_text(hint);
  }
}

TEST(StreamProbeTest, the_copy_engine_loads_tiles_of_32_threads_wherever_blocks_are) {
  StreamProbe probe = stream(StreamKind::copy);
  probe.engine = StreamEngine::bulk;
  expect_refused(
      probe,
      {[](auto& wrong) { wrong.kind = StreamKind::write; },
       [](auto& wrong) { wrong.block_threads = 64; }, [](auto& wrong) { wrong.element_bytes = 8; },
       [](auto& wrong) { wrong.sms = {1}; }, [](auto& wrong) { wrong.order = StreamOrder::same; },
       [](auto& wrong) { wrong.hint = StreamHint::evict_first; },
       [](auto& wrong) { wrong.path = LoadPath::past_l1; }});
}

TEST(StreamProbeTest, tiles_are_timed_of_reads_on_all_sms) {
  StreamProbe probe = stream(StreamKind::read);
  probe.timed_tiles = 8;
  expect_refused(probe, {[](auto& wrong) { wrong.timed_tiles = -1; },
                         [](auto& wrong) { wrong.kind = StreamKind::write; },
                         [](auto& wrong) { wrong.order = StreamOrder::same; }});
}

TEST(StreamProbeTest, additions_are_of_words) {
  StreamProbe probe = stream(StreamKind::add);
  probe.element_bytes = 4;
  expect_refused(probe, {[](auto& wrong) { wrong.element_bytes = 16; },
                         [](auto& wrong) { wrong.path = LoadPath::past_l1; }});
}

StreamProbe grouped() {
  StreamProbe probe = stream(StreamKind::read);
  probe.path = LoadPath::past_l1;
  probe.passes = 8;
  probe.groups = {{.sms = {1}, .chunk_offsets_bytes = {4096, 0}},
                  {.sms = {0}, .chunk_offsets_bytes = {61440}}};
  return probe;
}

TEST(StreamProbeTest, each_sm_is_in_one_group_whose_chunks_lie_in_the_footprint) {
  expect_refused(
      grouped(),
      {[](auto& probe) { probe.groups[0].sms = {0}; },
       [](auto& probe) { probe.groups[0].sms = {2}; }, [](auto& probe) { probe.groups.pop_back(); },
       [](auto& probe) { probe.groups.push_back(probe.groups[0]); },
       [](auto& probe) { probe.groups[1].chunk_offsets_bytes.clear(); },
       [](auto& probe) { probe.groups[1].chunk_offsets_bytes = {2048}; },
       [](auto& probe) { probe.groups[1].chunk_offsets_bytes = {65536}; },
       [](auto& probe) { probe.path = LoadPath::all_levels; }, [](auto& probe) { probe.ilp = 16; },
       [](auto& probe) { probe.blocks = 3; },
       [](auto& probe) { probe.footprint_bytes = 4096, probe.passes = 1; }});
}

TEST(StreamProbeTest, groups_read_write_and_add_but_do_not_copy) {
  StreamProbe probe = grouped();
  probe.kind = StreamKind::write;
  expect_refused(probe, {[](auto& wrong) { wrong.kind = StreamKind::copy; },
                         [](auto& wrong) { wrong.kind = StreamKind::add; }});
  probe.kind = StreamKind::add;
  probe.element_bytes = 4;
  probe.path = LoadPath::all_levels;
  expect_refused(probe, {[](auto& wrong) { wrong.ilp = 64; }});  // more than a chunk has for a warp
}

TEST(StreamProbeTest, warps_of_groups_take_as_many_chunks_each) {
  const StreamProbe probe = grouped();  // 4 warps, 8 passes over 16 chunks
  EXPECT_EQ(stream_warp_chunks(probe), 32u);
  EXPECT_EQ(stream_bytes(probe), 8 * 65536);
}

TEST(StreamProbeTest, the_description_tells_who_moves_the_data) {
  StreamProbe probe = stream(StreamKind::copy);
  probe.engine = StreamEngine::bulk;
  const auto described = nlohmann::json::parse(describe_probe(probe));
  EXPECT_EQ(described.at("kind"), "copy");
  EXPECT_EQ(described.at("engine"), "bulk");
  EXPECT_EQ(described.at("hint"), "none");
  EXPECT_EQ(described.at("timed_tiles"), 0);
  EXPECT_EQ(stream_tile_bytes(probe), 32u * 8 * 16);
  EXPECT_EQ(stream_bytes(probe), 65536) << "one half is read, the other one written";
}

}  // namespace
}  // namespace sonde
