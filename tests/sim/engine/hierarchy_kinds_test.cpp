// Hierarchies of less usual kinds: sliced sets, partitions, TLB entries of several parts.
#include "engine_support.hpp"

#include "base/units.hpp"
#include "device/sim/memory/set_index.hpp"

#include <gmock/gmock.h>

#include <set>

namespace sonde::sim {
namespace {

using nlohmann::json;
using testing::Each;
using testing::HasSubstr;

std::vector<std::uint32_t> chase_on(const json& model, std::vector<std::uint64_t> offsets,
                                    std::uint64_t warmup, LoadPath path = LoadPath::all_levels) {
  const std::uint64_t timed = offsets.size();
  return latencies_on(model, chase(std::move(offsets), warmup, timed, path));
}

json one_set(std::uint64_t low_bit) {
  return {{"kind", "bit_field"}, {"low_bit", low_bit}, {"bits", 0}};
}

// Sets in slices.

/// An L2 of three slices by the remainder of a hash, each with four sets.
json with_slices() {
  json model = quiet_json("gtx980");
  model["slices"] = {
      {"count", 3},
      {"spread_cycles", 0},
      {"index", {{"kind", "xor_modulo"}, {"masks", {"0x1080", "0x2100", "0x4200"}}}}};
  model["caches"][1]["sets"] = 12;
  model["caches"][1]["index"] = {
      {"kind", "slices"}, {"within", {{"kind", "xor_masks"}, {"masks", {"0x10400", "0x20800"}}}}};
  return model;
}

TEST(SlicedSetsTest, come_slice_by_slice) {
  const Model model = parse_model(with_slices().dump(), "mine.json");
  const Geometry& geometry = model.find_cache("l2")->geometries.front();
  const SetIndex index(geometry, &*model.slices);
  const SetIndex slice_of(model.slices->index, 3), set_of(geometry.index.within.front(), 4);
  std::set<std::uint32_t> seen;
  for (std::uint64_t address = 0; address < 1 << 18; address += 128) {
    EXPECT_EQ(index(address), 4 * slice_of(address) + set_of(address));
    seen.insert(index(address));
  }
  EXPECT_EQ(seen.size(), 12u);
}

TEST(SlicedSetsTest, are_those_of_the_l2_alone_and_equally_many) {
  const json index = with_slices()["caches"][1]["index"];
  json model = with_slices();
  EXPECT_EQ(complaint_about(model), "nothing is wrong");
  model["caches"][1]["sets"] = 13;
  EXPECT_THAT(complaint_about(model), HasSubstr("as many sets in each"));
  model["caches"][1]["sets"] = 6;
  EXPECT_THAT(complaint_about(model), HasSubstr("reaches set 3, but there are only 2"));
  model = with_slices();
  model["pages"]["tlbs"][0]["index"] = index;
  EXPECT_THAT(complaint_about(model), HasSubstr("tlbs[0].index must not be of kind slices"));
  model = with_slices();
  model["slices"]["index"] = index;
  EXPECT_THAT(complaint_about(model), HasSubstr("slices.index must not be of kind slices"));
}

// Partitions.

TEST(PartitionsTest, are_two_of_which_a_store_leaves_no_copies) {
  json model = quiet_json("h200");
  equalise_distances(model);
  model["partitions"] = {{"home_mask", "0x1000"}};
  auto cycles = chase_on(model, steps(400, 4096), 400, LoadPath::past_l1);
  EXPECT_EQ(count_at_least(cycles, 455), 200u) << "every second line lies at home elsewhere";
  EXPECT_EQ(count_at_least(cycles, 539), 0u);
  model["partitions"]["replicate"] = true;
  EXPECT_THAT(chase_on(model, steps(400, 4096), 400, LoadPath::past_l1), Each(279u));
  ChaseProbe probe = chase(steps(4, 4096), 4, 4, LoadPath::past_l1);
  probe.lanes[0].stored_offsets_bytes = steps(4, 4096);
  cycles = latencies_on(model, probe);
  EXPECT_EQ(count_at_least(cycles, 455), 2u) << "back at their homes";
}

// Translation.

/// A GTX 980 of one TLB of four entries of 2 MiB, no page-table window.
json with_tlb(json tlb_changes, const std::vector<std::string>& outcomes) {
  json model = quiet_json("gtx980");
  model["pages"].erase("window_bytes");
  json tlb = model["pages"]["tlbs"][0];
  tlb["ways"] = 4;
  tlb.update(tlb_changes);
  model["pages"]["tlbs"] = {tlb};
  json row;
  for (std::size_t i = 0; i < outcomes.size(); ++i) row[outcomes[i]] = 300 + 100 * i;
  json path = model["paths"]["cg"];
  for (const char* server : {"l2", "dram"}) path["latency_cycles"][server] = row;
  model["paths"] = {{"cg", path}};
  return model;
}

TEST(SubEntriesTest, are_filled_one_by_one) {
  json model = with_tlb({{"entry_bytes", "32 MiB"}, {"sub_entries", 16}, {"index", one_set(25)}},
                        {"tlb_l1_hit", "walk_cached", "walk_cold"});
  // All 64 pages of four entries stay; of five entries none does.
  const auto places = [](std::uint64_t pages) {
    std::vector<std::uint64_t> offsets;
    for (std::uint64_t i = 0; i < pages; ++i) offsets.push_back(i * (2_MiB + 256));
    return offsets;
  };
  EXPECT_THAT(chase_on(model, places(63), 63, LoadPath::past_l1), Each(300u));
  EXPECT_THAT(chase_on(model, places(16), 0, LoadPath::past_l1), Each(500u)) << "one by one";
  EXPECT_EQ(count_at_least(chase_on(model, places(80), 80, LoadPath::past_l1), 400), 80u);
  model["pages"]["tlbs"][0]["sub_entries"] = 32;
  EXPECT_THAT(complaint_about(model), HasSubstr("sub_entries"));
}

}  // namespace
}  // namespace sonde::sim
