// Hierarchies of less usual kinds: sliced sets, odd lines, caches of victims, lines that come
// ahead, more than two partitions, walk caches, pages of two sizes.
#include "engine_support.hpp"

#include "cache_array_support.hpp"
#include "device/sim/memory/set_index.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace sonde::sim {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::uint64_t mib = 1 << 20;

std::string complaint_about(const json& model) {
  try {
    parse_model(model.dump(), "mine.json");
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "no complaint";
}

std::vector<std::uint32_t> chase_on(const json& model, std::vector<std::uint64_t> offsets,
                                    std::uint64_t warmup, LoadPath path = LoadPath::all_levels) {
  const std::uint64_t timed = offsets.size();
  return latencies(open_sim(model)->run(chase(std::move(offsets), warmup, timed, path)), model);
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
  EXPECT_EQ(complaint_about(model), "no complaint");
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
  model = with_slices();
  model["partitions"] = {{"home", index}};
  EXPECT_THAT(complaint_about(model), HasSubstr("partitions.home must not be of kind slices"));
}

// Lines that are no power of two.

CacheArray odd_cache() {
  CacheModel model;
  model.line_bytes = 96;
  model.sector_bytes = model.fetch_bytes = 32;
  Geometry geometry;
  geometry.ways_per_set = {1, 1};
  geometry.index.kind = DeclaredIndex::Kind::modulo;
  geometry.index.granularity_bytes = 96;
  CacheArray cache(model, geometry);
  cache.clear(1);
  return cache;
}

TEST(OddLineTest, has_one_tag_for_its_sectors) {
  CacheArray cache = odd_cache();
  EXPECT_FALSE(cache.access(0));
  EXPECT_FALSE(cache.access(64)) << "another sector";
  EXPECT_TRUE(cache.access(0)) << "of the same line";
  cache.access(2 * 96);
  EXPECT_FALSE(cache.contains(0)) << "the next line of its set";
  EXPECT_FALSE(cache.contains(64));
}

TEST(OddLineTest, is_met_by_a_span_in_two_lines) {
  CacheArray cache = odd_cache();
  EXPECT_FALSE(cache.access(64, 128)) << "bytes 0 to 127: line 0 and the first sector of line 1";
  EXPECT_TRUE(cache.contains(0));
  EXPECT_TRUE(cache.contains(96));
  EXPECT_FALSE(cache.contains(128));
  EXPECT_TRUE(cache.access(64, 128));
}

TEST(OddLineTest, must_not_be_cut_by_the_index) {
  json model = quiet_json("gtx980");
  model["caches"][0]["line_bytes"] = 96;
  EXPECT_THAT(complaint_about(model),
              AllOf(HasSubstr("caches[0].line_bytes"), HasSubstr("modulo")));
  model["caches"][0]["index"] = {{"kind", "modulo"}, {"granularity_bytes", 192}};
  EXPECT_EQ(complaint_about(model), "no complaint");
  model["caches"][0]["fetch_bytes"] = 64;
  EXPECT_THAT(complaint_about(model), HasSubstr("fetch_bytes must be at least sector_bytes, and"));
}

// Caches of victims.

/// An L1 of four lines before a cache of four lines that takes its victims.
json with_victims(const char* filled_by) {
  json model = quiet_json("gtx980");
  json& l1 = model["caches"][0];
  l1["sets"] = 1;
  l1["ways"] = 4;
  l1["index"] = one_set(5);
  l1["replacement"] = "lru";
  json victims = l1;
  victims["name"] = "victims";
  victims["filled_by"] = filled_by;
  model["caches"].push_back(victims);
  for (const char* path : {"ca", "nc", "texture_1d", "texture_2d"}) {
    if (!model["paths"].contains(path)) continue;
    json& declared = model["paths"][path];
    if (declared["caches"].front() != "l1") continue;
    declared["caches"] = {"l1", "victims", "l2"};
    declared["latency_cycles"]["victims"] = 120;
  }
  return model;
}

TEST(VictimCacheTest, that_moves_lines_back_adds_its_lines_to_those_before) {
  const json model = with_victims("victims_moving");
  EXPECT_THAT(chase_on(model, steps(8, 32), 80), Each(120u)) << "each from the victims";
  EXPECT_THAT(chase_on(model, steps(4, 32), 80), Each(82u));
  EXPECT_EQ(count_at_least(chase_on(model, steps(9, 32), 90), 200), 9u) << "one too many for LRU";
}

TEST(VictimCacheTest, that_keeps_what_it_gives_holds_some_lines_twice) {
  // Five lines go round: those of the L1 leave it one by one for the victims, which know them.
  EXPECT_THAT(chase_on(with_victims("victims"), steps(5, 32), 50), Each(120u));
  EXPECT_GT(count_at_least(chase_on(with_victims("victims"), steps(8, 32), 80), 200), 0u)
      << "so the two together hold less than eight";
  EXPECT_EQ(count_at_least(chase_on(with_victims("misses"), steps(8, 32), 80), 200), 8u)
      << "filled by its own misses it holds four lines";
}

TEST(VictimCacheTest, is_filled_by_nothing_else) {
  // Two lines: neither leaves the L1, so the victims stay empty when another SM's load of ...
  const json model = with_victims("victims_moving");
  EXPECT_THAT(chase_on(model, {0, 32, 0, 32}, 4), Each(82u));
  // ... and a line that left and came back is gone from there: 0 to 4 push 0 out, it moves back.
  const auto cycles = chase_on(model, {0, 32, 64, 96, 128, 0, 0}, 0);
  EXPECT_THAT(std::vector(cycles.begin() + 5, cycles.end()), ElementsAre(120u, 82u));
}

TEST(VictimCacheTest, lies_behind_a_cache_like_itself) {
  json model = with_victims("victims");
  model["caches"].back()["line_bytes"] = 64;
  EXPECT_THAT(complaint_about(model), AllOf(HasSubstr("victims of 'l1'"), HasSubstr("lines")));
  model = with_victims("victims");
  model["paths"]["ca"]["caches"] = {"victims", "l1", "l2"};
  EXPECT_THAT(complaint_about(model), HasSubstr("behind no cache filled by misses"));
  model = with_victims("victims");
  model["paths"]["cv"]["caches"] = {"l1", "l2"};
  model["paths"]["cv"]["latency_cycles"] = model["paths"]["ca"]["latency_cycles"];
  model["paths"]["cv"]["latency_cycles"].erase("victims");
  EXPECT_THAT(complaint_about(model), HasSubstr("to several caches, one of which takes"));
}

// Lines that come ahead.

TEST(NextLinesTest, hide_the_misses_of_code_that_runs_straight_on) {
  json model = quiet_json("gtx280");
  json& code = model["caches"][3];
  ASSERT_EQ(code["name"], "instruction_l1");
  const auto slow = [&] {
    return count_at_least(chase_on(model, steps(64, 256), 0, LoadPath::instruction), 73);
  };
  EXPECT_EQ(slow(), 64u) << "every line of 256 B";
  code["next_lines"] = {{"count", 1}, {"on", "misses"}};
  EXPECT_EQ(slow(), 32u) << "every other one";
  code["next_lines"]["on"] = "accesses";
  EXPECT_EQ(slow(), 1u) << "the first";
}

TEST(NextLinesTest, come_behind_the_line_that_was_asked_for) {
  json model = quiet_json("gtx280");
  model["caches"][3]["next_lines"] = {{"count", 1}, {"on", "misses"}};
  for (json& cache : model["caches"]) {
    if (cache["name"] != "constant_l2") continue;
    cache["line_bytes"] = 512;
    cache["index"]["low_bit"] = 9;
  }
  const auto cycles = chase_on(model, steps(16, 512), 0, LoadPath::instruction);
  EXPECT_EQ(count_at_least(cycles, 400), 16u)
      << "each line of 512 B of the next cache, though what comes ahead lies in it";
}

TEST(NextLinesTest, are_for_paths_without_translation) {
  json model = quiet_json("gtx980");
  model["caches"][0]["next_lines"] = {{"count", 1}, {"on", "misses"}};
  EXPECT_THAT(complaint_about(model), AllOf(HasSubstr("next_lines"), HasSubstr("code alone")));
  model["caches"][0]["next_lines"] = {{"count", 0}, {"on", "misses"}};
  EXPECT_THAT(complaint_about(model), HasSubstr("next_lines.count"));
}

// Partitions.

TEST(PartitionsTest, may_be_more_than_two) {
  json model = quiet_json("h200");
  equalise_distances(model);
  model["partitions"] = {{"count", 4}, {"home", {{"kind", "modulo"}, {"granularity_bytes", 4096}}}};
  const auto cycles = chase_on(model, steps(400, 4096), 400, LoadPath::past_l1);
  EXPECT_EQ(count_at_least(cycles, 455), 300u) << "three in four lie at home elsewhere";
  EXPECT_EQ(count_at_least(cycles, 539), 0u);
  model["partitions"]["replicate"] = true;
  EXPECT_THAT(chase_on(model, steps(400, 4096), 400, LoadPath::past_l1), Each(279u));
}

TEST(PartitionsTest, of_which_a_store_leaves_no_copies) {
  json model = quiet_json("h200");
  equalise_distances(model);
  model["partitions"] = {{"count", 4},
                         {"replicate", true},
                         {"home", {{"kind", "modulo"}, {"granularity_bytes", 4096}}}};
  const Die die = make_die(parse_model(model.dump(), "mine.json"), {}, die_seed(1, 0));
  ChaseProbe probe = chase(steps(4, 4096), 4, 4, LoadPath::past_l1);
  probe.lanes[0].stored_offsets_bytes = steps(4, 4096);
  const auto cycles = latencies(open_sim(model)->run(probe), model);
  EXPECT_EQ(count_at_least(cycles, 455), 3u) << "back at their homes";
  EXPECT_EQ(die.sms.front().partition, 0);
}

TEST(PartitionsTest, need_one_way_to_find_a_home) {
  json model = quiet_json("h200");
  model["partitions"]["count"] = 3;
  EXPECT_THAT(complaint_about(model), HasSubstr("tells two partitions apart, not more"));
  model["partitions"]["home"] = {{"kind", "modulo"}, {"granularity_bytes", 4096}};
  EXPECT_THAT(complaint_about(model), HasSubstr("not both"));
  model["partitions"].erase("home_mask");
  EXPECT_EQ(complaint_about(model), "no complaint");
  model["partitions"]["home"] = {{"kind", "bit_field"}, {"low_bit", 12}, {"bits", 2}};
  EXPECT_THAT(complaint_about(model), HasSubstr("reaches set 3, but there are only 3"));
  model["partitions"]["count"] = 9;
  EXPECT_THAT(complaint_about(model), HasSubstr("count"));
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

TEST(WalkCacheTest, shortens_walks_of_what_lies_below_its_entries) {
  json model = with_tlb({{"ways", 1}}, {"tlb_l1_hit", "walk_near", "walk_cached", "walk_cold"});
  json cache = model["pages"]["tlbs"][0];
  cache["name"] = "near";
  cache["entry_bytes"] = "64 MiB";
  cache["index"] = one_set(26);
  model["pages"]["walk_caches"] = {cache};
  // Two pages of one entry of the walk cache and one of another, all read before.
  const std::vector<std::uint64_t> pages{0, 2 * mib, 64 * mib};
  EXPECT_THAT(chase_on(model, pages, 3, LoadPath::past_l1), ElementsAre(500, 400, 500));
  EXPECT_THAT(chase_on(model, {0, 2 * mib, 2 * mib}, 3, LoadPath::past_l1),
              ElementsAre(400, 400, 300));
  EXPECT_THAT(chase_on(model, pages, 0, LoadPath::past_l1), Each(600u)) << "cold";
}

TEST(SubEntriesTest, may_be_more_than_sixteen) {
  json model = with_tlb({{"entry_bytes", "64 MiB"}, {"sub_entries", 32}, {"index", one_set(26)}},
                        {"tlb_l1_hit", "walk_cached", "walk_cold"});
  // All 128 pages of four entries stay; of five entries none does.
  const auto places = [](std::uint64_t pages) {
    std::vector<std::uint64_t> offsets;
    for (std::uint64_t i = 0; i < pages; ++i) offsets.push_back(i * (2 * mib + 256));
    return offsets;
  };
  EXPECT_THAT(chase_on(model, places(127), 127, LoadPath::past_l1), Each(300u));
  EXPECT_THAT(chase_on(model, places(32), 0, LoadPath::past_l1), Each(500u)) << "one by one";
  EXPECT_EQ(count_at_least(chase_on(model, places(160), 160, LoadPath::past_l1), 400), 160u);
  model["pages"]["tlbs"][0]["sub_entries"] = 64;
  EXPECT_THAT(complaint_about(model), HasSubstr("sub_entries"));
  model["pages"]["tlbs"][0]["sub_entries"] = 32;
  model["pages"]["mixed"] = {{"page_bytes", 512}, {"region_bytes", "2 MiB"}, {"fraction", 0.5}};
  EXPECT_EQ(complaint_about(model), "no complaint");
  model["pages"]["tlbs"][0]["entry_bytes"] = "4 KiB";
  EXPECT_THAT(complaint_about(model), HasSubstr("entries too small for so much memory"));
}

TEST(MixedPagesTest, of_small_pages_a_tlb_reaches_less_far) {
  json model = with_tlb(json::object(), {"tlb_l1_hit", "walk_cached", "walk_cold"});
  const auto small = [&](double fraction) {
    model["pages"]["mixed"] = {
        {"page_bytes", "64 KiB"}, {"region_bytes", "2 MiB"}, {"fraction", fraction}};
    return chase_on(model, steps(5, 64 << 10), 5, LoadPath::past_l1);
  };
  EXPECT_THAT(small(0), Each(300u)) << "one page";
  EXPECT_THAT(small(1), Each(400u)) << "five, of which four find an entry";
  // The first touch of each of 64 regions, and of another 64 KiB of it: is it another page?
  std::vector<std::uint64_t> touches;
  for (std::uint64_t region = 0; region < 64; ++region) {
    touches.insert(touches.end(), {region * 2 * mib, region * 2 * mib + (64 << 10)});
  }
  model["pages"]["mixed"]["fraction"] = 0.5;
  const auto cold = count_at_least(chase_on(model, touches, 0, LoadPath::past_l1), 500);
  EXPECT_GT(cold, 64u + 16);
  EXPECT_LT(cold, 128u - 16);
}

TEST(MixedPagesTest, are_smaller_than_the_others) {
  json model = with_tlb(json::object(), {"tlb_l1_hit", "walk_cached", "walk_cold"});
  const auto with = [&](json page, json region) {
    model["pages"]["mixed"] = {{"page_bytes", page}, {"region_bytes", region}, {"fraction", 0.5}};
    return complaint_about(model);
  };
  EXPECT_EQ(with("64 KiB", "2 MiB"), "no complaint");
  EXPECT_THAT(with("2 MiB", "4 MiB"), HasSubstr("pages.mixed.page_bytes"));
  EXPECT_THAT(with("96 KiB", "4 MiB"), HasSubstr("pages.mixed.page_bytes"));
  EXPECT_THAT(with("64 KiB", "1 MiB"), HasSubstr("pages.mixed.region_bytes"));
}

}  // namespace
}  // namespace sonde::sim
