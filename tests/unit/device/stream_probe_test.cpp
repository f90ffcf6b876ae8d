// The seam's streams: which combinations are refused, what the description tells, which bytes
// count.
#include "base/error.hpp"
#include "device/probe.hpp"

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

template <class Change>
void expect_refused(StreamKind kind, const Change& change) {
  StreamProbe probe = stream(kind);
  EXPECT_NO_THROW(validate_probe(probe, 2));
  change(probe);
  EXPECT_THROW(validate_probe(probe, 2), Error);
}

TEST(StreamProbeTest, hints_need_the_accesses_that_carry_them) {
  expect_refused(StreamKind::write, [](auto& probe) { probe.hint = StreamHint::no_allocate; });
  expect_refused(StreamKind::read, [](auto& probe) { probe.hint = StreamHint::write_through; });
  StreamProbe copy = stream(StreamKind::copy);
  for (const StreamHint hint :
       {StreamHint::no_allocate, StreamHint::evict_first, StreamHint::write_through}) {
    copy.hint = hint;
    EXPECT_NO_THROW(validate_probe(copy, 2)) << to_text(hint);
  }
}

TEST(StreamProbeTest, the_copy_engine_loads_tiles_of_32_threads_wherever_blocks_are) {
  expect_refused(StreamKind::write, [](auto& probe) { probe.engine = StreamEngine::bulk; });
  const auto refused = [](auto change) {
    expect_refused(StreamKind::copy, [&](StreamProbe& probe) {
      probe.engine = StreamEngine::bulk;
      EXPECT_NO_THROW(validate_probe(probe, 2));
      change(probe);
    });
  };
  refused([](auto& probe) { probe.block_threads = 64; });
  refused([](auto& probe) { probe.element_bytes = 8; });
  refused([](auto& probe) { probe.sms = {1}; });
  refused([](auto& probe) { probe.order = StreamOrder::same; });
  refused([](auto& probe) { probe.hint = StreamHint::evict_first; });
  refused([](auto& probe) { probe.path = LoadPath::past_l1; });
}

TEST(StreamProbeTest, tiles_are_timed_of_reads_on_all_sms) {
  expect_refused(StreamKind::read, [](auto& probe) { probe.timed_tiles = -1; });
  expect_refused(StreamKind::write, [](auto& probe) { probe.timed_tiles = 8; });
  expect_refused(StreamKind::read, [](auto& probe) {
    probe.timed_tiles = 8;
    EXPECT_NO_THROW(validate_probe(probe, 2));
    probe.sms = {1};
  });
}

TEST(StreamProbeTest, the_description_tells_who_moves_the_data) {
  StreamProbe probe = stream(StreamKind::copy);
  probe.engine = StreamEngine::bulk;
  const auto described = nlohmann::json::parse(describe_probe(probe));
  EXPECT_EQ(probe_kind(probe), "stream");
  EXPECT_EQ(described.at("kind"), "copy");
  EXPECT_EQ(described.at("engine"), "bulk");
  EXPECT_EQ(described.at("hint"), "none");
  EXPECT_EQ(described.at("timed_tiles"), 0);
  EXPECT_EQ(stream_tile_bytes(probe), 32u * 8 * 16);
  EXPECT_EQ(stream_bytes(probe), 65536) << "one half is read, the other one written";
}

}  // namespace
}  // namespace sonde
