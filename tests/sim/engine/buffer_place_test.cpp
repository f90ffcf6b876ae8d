// Places of buffers in the memory of simulated GPUs: other places bring other physical pages.
#include "base/units.hpp"
#include "device/sim/play/launch.hpp"
#include "engine_support.hpp"

#include <gmock/gmock.h>

#include <set>

namespace sonde::sim {
namespace {

constexpr Place places = 64;

std::set<std::uint64_t> offsets_of(const Model& model, std::uint64_t seed_of_die,
                                   std::uint64_t buffer_bytes) {
  std::set<std::uint64_t> offsets;
  for (Place place = 0; place < places; ++place) {
    offsets.insert(draw_buffer_offset(model, seed_of_die, place, buffer_bytes));
  }
  return offsets;
}

TEST(BufferPlaceTest, buffers_lie_within_the_memory_and_begin_with_entries_and_windows) {
  for (const std::string& shipped : list_shipped()) {
    const Model model = load_model(shipped);
    for (std::uint64_t parts : {1, 2, 3, 8, 1000}) {
      const std::uint64_t buffer_bytes = model.device.memory_bytes / parts;
      for (std::uint64_t offset : offsets_of(model, 7, buffer_bytes)) {
        EXPECT_LE(offset + buffer_bytes, model.device.memory_bytes) << shipped;
        for (const CacheModel& tlb : model.pages.tlbs) EXPECT_EQ(offset % tlb.line_bytes, 0u);
        if (model.pages.window_bytes > 0) {
          EXPECT_EQ(offset % model.pages.window_bytes, 0u);
        }
      }
    }
  }
}

TEST(BufferPlaceTest, every_device_has_several_places_for_a_quarter_of_its_memory) {
  for (const std::string& shipped : list_shipped()) {
    const Model model = load_model(shipped);
    EXPECT_GE(offsets_of(model, 7, model.device.memory_bytes / 4).size(), 4u) << shipped;
  }
  const Model h200 = load_model("h200");
  EXPECT_GE(offsets_of(h200, 7, 1_MiB).size(), 50u);
  EXPECT_GE(offsets_of(h200, 7, 134_GiB).size(), 10u) << "nearly all of the memory";
}

TEST(BufferPlaceTest, dice_draw_their_own_places_and_keep_them) {
  const Model model = load_model("h200");
  EXPECT_NE(offsets_of(model, 7, 1_MiB), offsets_of(model, 8, 1_MiB));
  for (Place place = 0; place < places; ++place) {
    EXPECT_EQ(draw_buffer_offset(model, 7, place, 1_MiB),
              draw_buffer_offset(model, 7, place, 256_MiB));
  }
}

TEST(BufferPlaceTest, a_memory_without_room_for_a_choice_has_one_place) {
  auto json = quiet_json("gtx780");
  json["device"]["memory_bytes"] = "512 MiB";
  const Model model = parse_model(json.dump(), "small");
  EXPECT_EQ(offsets_of(model, 7, 1_MiB), std::set<std::uint64_t>{0});
  EXPECT_EQ(offsets_of(model, 7, 1_GiB), std::set<std::uint64_t>{0}) << "more than there is";
}

/// Which lines of one page are far from SM 0, as atomics see it at a place.
std::vector<bool> far_lines(Device& device, const nlohmann::json& model, Place place) {
  ChaseProbe probe = chase(steps(512, 4096), 512, 512, LoadPath::atomic);
  probe.place = place;
  std::vector<bool> far;
  for (std::uint32_t cycles : latencies(device.run(probe), model)) far.push_back(cycles >= 400);
  return far;
}

TEST(BufferPlaceTest, a_place_keeps_its_pages_and_others_have_other_homes) {
  auto model = quiet_json("h200");
  equalise_distances(model);
  const auto device = open_sim(model);
  const std::vector<bool> far = far_lines(*device, model, 0);
  EXPECT_EQ(far_lines(*device, model, 0), far);
  EXPECT_EQ(far_lines(*open_sim(model), model, 0), far) << "another process";
  const std::vector<bool> swapped = [&] {
    std::vector<bool> other = far;
    other.flip();
    return other;
  }();
  int as_first = 0;
  for (Place place = 0; place < 32; ++place) {
    const std::vector<bool> seen = far_lines(*device, model, place);
    // Within a page the homes follow its own address bits: another page may swap them all.
    EXPECT_TRUE(seen == far || seen == swapped) << place;
    as_first += seen == far ? 1 : 0;
  }
  EXPECT_NEAR(as_first, 16, 10);
}

TEST(BufferPlaceTest, traces_say_where_the_buffer_lay) {
  const auto json = quiet_json("h200");
  const Model model = parse_model(json.dump(), "test");
  const std::uint64_t seed = die_seed(1, 0);
  const std::uint64_t begin = draw_memory_address(model, seed);
  EXPECT_NE(begin, 0u);
  const auto device = open_sim(json);
  ChaseProbe probe = chase({0, 1_MiB}, 0, 1);
  probe.place = 3;
  EXPECT_EQ(device->run(probe).buffer_offset_bytes,
            begin + draw_buffer_offset(model, seed, 3, probe.buffer_bytes));
  StreamProbe stream;
  stream.blocks = 4;
  stream.block_threads = 64;
  stream.footprint_bytes = 1_MiB;
  stream.place = 5;
  EXPECT_EQ(device->run(stream).buffer_offset_bytes,
            begin + draw_buffer_offset(model, seed, 5, 1_MiB));
  probe.lanes = {{.sm = 0, .offsets_bytes = {0}, .path = LoadPath::constant}};
  probe.buffer_bytes = 8;
  EXPECT_EQ(device->run(probe).buffer_offset_bytes, 0u) << "not in global memory";
}

}  // namespace
}  // namespace sonde::sim
