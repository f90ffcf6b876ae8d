// Paths beside those of plain loads: constants, textures, atomics and code.
#include "engine_support.hpp"

#include "base/units.hpp"

#include <gmock/gmock.h>

namespace sonde::sim {
namespace {

using nlohmann::json;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

json cache(const char* name, const char* scope, std::uint64_t line_bytes, int sets, int ways) {
  return {{"name", name},
          {"scope", scope},
          {"addressing", "virtual"},
          {"line_bytes", line_bytes},
          {"sets", sets},
          {"ways", ways},
          {"index", {{"kind", "modulo"}, {"granularity_bytes", line_bytes}}},
          {"replacement", "lru"},
          {"write_policy", {{"hit", "ignore"}, {"miss", "no_allocate"}}}};
}

/// A GTX 980 with a constant cache for each SM and a larger one below it, which holds code too.
json with_constants() {
  json model = quiet_json("gtx980");
  model["caches"].push_back(cache("near", "sm", 64, 8, 4));
  model["caches"].push_back(cache("code", "sm", 128, 4, 2));
  model["caches"].push_back(cache("below", "device", 256, 8, 4));
  model["paths"]["constant"] = {{"caches", {"near", "below"}},
                                {"latency_cycles", {{"near", 8}, {"below", 81}, {"dram", 220}}}};
  model["paths"]["instruction"] = {{"caches", {"code", "below"}},
                                   {"latency_cycles", {{"code", 5}, {"below", 50}, {"dram", 300}}}};
  return model;
}

TEST(LoadPathsTest, constants_are_cached_and_not_translated) {
  const json model = with_constants();
  const auto cycles = latencies_on(model, chase({0, 64, 256, 60_KiB, 0}, 0, 5, LoadPath::constant));
  EXPECT_THAT(cycles, ElementsAre(220, 81, 220, 220, 8));
}

TEST(LoadPathsTest, code_goes_through_caches_block_by_block) {
  const json model = with_constants();
  // Nine blocks in a first level of eight; sixteen lines of 256 bytes would fit the second.
  ChaseProbe probe = chase(steps(9, code_block_bytes), 18, 9, LoadPath::instruction);
  EXPECT_THAT(latencies_on(model, probe), ElementsAre(50, 5, 5, 5, 50, 5, 5, 5, 50));
}

/// On SM 0: 32 lines of constants, which fill the cache that both paths reach, and as many of code
/// beside them.
ChaseProbe constants_beside_code() {
  ChaseProbe probe = chase(steps(32, 256), 128, 32, LoadPath::constant);
  probe.lanes.push_back({.sm = 0, .offsets_bytes = steps(32, 256), .path = LoadPath::instruction});
  probe.buffer_bytes = 8_KiB;
  return probe;
}

TEST(LoadPathsTest, lanes_of_different_paths_meet_in_the_cache_that_both_reach) {
  json model = with_constants();
  const Trace both = open_sim(model)->run(constants_beside_code());
  EXPECT_THAT(latencies(both, model, 0), Each(220u));
  EXPECT_THAT(latencies(both, model, 1), Each(300u));

  model["caches"].push_back(cache("code below", "device", 256, 8, 4));
  model["paths"]["instruction"] = {
      {"caches", {"code", "code below"}},
      {"latency_cycles", {{"code", 5}, {"code below", 50}, {"dram", 300}}}};
  const Trace apart = open_sim(model)->run(constants_beside_code());
  EXPECT_THAT(latencies(apart, model, 0), Each(testing::Le(81u)));
  EXPECT_THAT(latencies(apart, model, 1), Each(testing::Le(50u)));
}

TEST(LoadPathsTest, each_lane_has_the_addresses_and_translations_of_its_path) {
  const json model = with_constants();
  ChaseProbe probe = chase(steps(32, 256), 128, 32, LoadPath::constant);
  probe.buffer_bytes = 8_MiB;
  probe.lanes.push_back({.sm = 0, .offsets_bytes = {6_MiB}, .path = LoadPath::past_l1});
  const Trace trace = open_sim(model)->run(probe);
  EXPECT_THAT(latencies(trace, model, 0), Each(testing::Le(81u))) << "global loads are elsewhere";
  EXPECT_THAT(latencies(trace, model, 1), Each(214u)) << "and hit the L2";
}

TEST(LoadPathsTest, a_lane_through_a_path_that_the_gpu_lacks_is_refused) {
  ChaseProbe probe = chase({0}, 0, 1, LoadPath::past_l1);
  probe.lanes.push_back({.sm = 0, .offsets_bytes = {0}, .path = LoadPath::atomic});
  EXPECT_THROW(open_sim(with_constants())->run(probe), DeviceError);
}

/// A GTX 980 with textures past a small cache and TLBs of their own.
json with_textures() {
  json model = quiet_json("gtx980");
  model["caches"].push_back(cache("texture", "sm", 32, 4, 4));
  json tlb = model["pages"]["tlbs"][0];
  tlb["name"] = "tex";
  tlb["ways"] = 4;
  model["pages"]["path_tlbs"] = {tlb};
  const json row = {
      {"tlb_tex_hit", 400}, {"walk_cached", 500}, {"walk_cold", 600}, {"window_switch", 700}};
  model["paths"]["texture_1d"] = {{"caches", {"texture"}},
                                  {"tlbs", {"tex"}},
                                  {"latency_cycles", {{"texture", 100}, {"dram", row}}}};
  model["paths"]["texture_2d"] = model["paths"]["texture_1d"];
  model["paths"]["texture_2d"]["tile"] = {{"width_bytes", 8}, {"rows", 4}};
  return model;
}

TEST(LoadPathsTest, textures_may_have_tlbs_of_their_own) {
  const json model = with_textures();
  const auto device = open_sim(model);
  const auto late = [&](std::uint64_t pages) {
    return latencies(
        device->run(chase(steps(pages, 2_MiB), 3 * pages, pages, LoadPath::texture_1d)), model);
  };
  // All lines lie in one set of four, so a fifth page misses there and in the TLB of four.
  EXPECT_THAT(late(4), Each(100u));
  EXPECT_THAT(late(5), Each(500u));
  EXPECT_THAT(latencies(device->run(chase({0, 32}, 0, 2, LoadPath::texture_1d)), model),
              ElementsAre(600, 400));
}

TEST(LoadPathsTest, other_paths_do_not_go_through_a_paths_own_tlbs) {
  const auto cycles = [](const json& model) {
    const ChaseProbe probe = chase(steps(8, 2_MiB + 1152), 16, 8, LoadPath::past_l1);
    return latencies_on(model, probe);
  };
  EXPECT_EQ(cycles(with_textures()), cycles(quiet_json("gtx980")));
}

TEST(LoadPathsTest, rows_of_a_texture_are_stored_tile_by_tile) {
  const json model = with_textures();
  // One line of 32 bytes holds 8 bytes of four rows; the fifth row and the next 8 bytes are others.
  const std::uint64_t row = texture_row_bytes;
  const ChaseProbe probe =
      chase({0, row, 2 * row, 3 * row, 8, 4 * row, 7 * row}, 0, 7, LoadPath::texture_2d);
  EXPECT_THAT(latencies_on(model, probe), ElementsAre(600, 100, 100, 100, 400, 400, 100));
}

TEST(LoadPathsTest, an_atomic_is_answered_at_home) {
  json model = quiet_json("h200");
  equalise_distances(model);
  const auto lines = steps(512, 4096);
  const auto device = open_sim(model);
  EXPECT_THAT(latencies(device->run(chase(lines, 1024, 512, LoadPath::past_l1)), model),
              Each(279u));

  ChaseProbe probe = chase(lines, 1024, 512, LoadPath::atomic);
  const Die die = make_die(load_model("h200"), {}, die_seed(1, 0));
  int other = 0;
  while (die.sm(other).partition == die.sms[0].partition) ++other;
  probe.lanes.push_back({.sm = other, .offsets_bytes = lines, .path = LoadPath::atomic});
  const Trace trace = device->run(probe);

  const auto here = latencies(trace, model, 0);
  const auto there = latencies(trace, model, 1);
  EXPECT_NEAR(static_cast<double>(count_at_least(here, 483)), 256, 60);
  for (std::size_t i = 0; i < here.size(); ++i) EXPECT_EQ(here[i] + there[i], 288u + 483u) << i;
}

TEST(LoadPathsTest, what_a_path_cannot_have_is_refused) {
  EXPECT_THAT(complaint_about(with_constants(), "/paths/constant/tlbs", {"l1"}),
              HasSubstr("paths.constant.tlbs is not a known key"));
  EXPECT_THAT(
      complaint_about(with_constants(), "/paths/constant/latency_cycles/dram", {{"walk_cold", 1}}),
      HasSubstr("latency_cycles.dram must be a whole number"));
  EXPECT_THAT(
      complaint_about(with_textures(), "/paths/texture_1d/tile", {{"width_bytes", 8}, {"rows", 4}}),
      HasSubstr("paths.texture_1d.tile is not a known key"));
  EXPECT_THAT(complaint_about(with_textures(), "/paths/texture_2d/tile/width_bytes", 24),
              HasSubstr("tile.width_bytes must be a power of two"));
  EXPECT_THAT(complaint_about(with_textures(), "/paths/ca/caches", {"l2", "l1"}),
              HasSubstr("names 'l1', which is virtual, behind a physical one"));
  EXPECT_THAT(complaint_about(with_textures(), "/paths/texture_1d/tlbs", {"text"}),
              HasSubstr("names 'text', which is no TLB"));
}

}  // namespace
}  // namespace sonde::sim
