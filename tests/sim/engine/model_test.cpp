#include "device/backends/open_device.hpp"
#include "engine_support.hpp"

#include <gmock/gmock.h>

#include <cstdio>
#include <fstream>

namespace sonde::sim {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;

/// What is wrong with a GTX 980 that has another value at that place.
std::string complaint(const std::string& place, const json& value) {
  return complaint_about(quiet_json("gtx980"), place, value);
}

TEST(ModelTest, every_shipped_model_loads) {
  for (const std::string& shipped : list_shipped()) {
    const Model model = load_model(shipped);
    EXPECT_GT(model.device.sm_count, 0) << shipped;
    EXPECT_FALSE(model.source.empty()) << shipped;
  }
}

TEST(ModelTest, a_file_is_a_model_too) {
  const std::string path = testing::TempDir() + "sonde_model_test.json";
  std::ofstream(path) << quiet_json("gtx780").dump();
  EXPECT_EQ(load_model(path).device.name, "GeForce GTX 780");
  std::remove(path.c_str());
}

TEST(ModelTest, a_base_has_what_a_file_leaves_out) {
  const Model model = parse_model(
      R"({"base": "gtx980", "source": "mine", "device": {"memory_bus_bits": 128}, "lsu": {"mshrs": 7},
          "shared": {"atomics": null}})",
      "mine.json");
  EXPECT_EQ(model.device.name, "GeForce GTX 980");
  EXPECT_EQ(model.device.memory_bus_bits, 128);
  EXPECT_EQ(model.units.lsu.mshrs, 7u);
  EXPECT_EQ(model.units.lsu.mshr_merges, 8u);
  EXPECT_FALSE(model.units.shared.atomics);
  for (const char* base : {R"("gtx981")", "7", R"("mine.json")"}) {
    EXPECT_THROW(parse_model(R"({"base": )" + std::string(base) + "}", "mine.json"), ConfigError);
  }
}

TEST(ModelTest, a_path_may_be_like_another_one) {
  const Model model = load_model("h200");
  const auto path = [&](LoadPath of) { return *model.paths[static_cast<std::size_t>(of)]; };
  EXPECT_EQ(path(LoadPath::uncached).dram, path(LoadPath::past_l1).dram);
  EXPECT_EQ(path(LoadPath::texture_2d).hit, path(LoadPath::texture_1d).hit);
  EXPECT_TRUE(path(LoadPath::texture_2d).tile);
  EXPECT_FALSE(path(LoadPath::texture_1d).tile);
  EXPECT_EQ(complaint("/paths/nc", {{"like", "cg"}}), "nothing is wrong");
  EXPECT_THAT(complaint("/paths/ca", {{"like", "ca"}}), HasSubstr("mine.json.paths.ca.like"));
}

TEST(ModelTest, a_name_that_is_no_model_lists_those_that_are) {
  EXPECT_THAT(test::thrown<ConfigError>([] { load_model("gtx9800"); }),
              AllOf(HasSubstr("gtx9800"), HasSubstr("gtx980 "), HasSubstr("h200")));
  EXPECT_THROW(load_model("/nowhere/mine.json"), ConfigError);
  EXPECT_THROW(parse_model("{", "mine.json"), ConfigError);
}

TEST(ModelTest, distances_need_a_number_for_each_tpc) {
  EXPECT_THAT(complaint("/caches/0/tpc_cycles", {1, -2}),
              AllOf(HasSubstr("tpc_cycles"), HasSubstr("each TPC")));
  const std::vector<double> distant(quiet_json("gtx980")["chip"]["tpcs_per_gpc"], -2e6);
  EXPECT_THAT(complaint("/caches/0/tpc_cycles", distant),
              AllOf(HasSubstr("at least -1000000"), HasSubstr("at most 1000000")));
}

TEST(ModelTest, instruction_caches_of_partitions_are_assumed_from_volta_on) {
  for (int major : {6, 7}) {
    json model = quiet_json("h200");
    model["device"].erase("sm_partition_instruction_caches");
    model["device"]["compute_major"] = major;
    EXPECT_EQ(parse_model(model.dump(), "mine.json").device.sm_partition_instruction_caches,
              major >= 7);
  }
}

TEST(ModelTest, pipelines_name_what_they_declare) {
  const auto with = [](const std::string& list, const json& item) {
    return complaint("/pipelines/" + list + "/-", item);
  };
  const auto on = [](const json& execution) { return json{{"name", "new"}, {"on", {execution}}}; };
  EXPECT_THAT(with("instructions", on({{"unit", "dsp"}, {"lanes", 8}, {"latency_cycles", 4}})),
              AllOf(HasSubstr("mine.json.pipelines.instructions["), HasSubstr("'dsp'")));
  EXPECT_THAT(with("instructions", on({{"unit", "core"}, {"lanes", 12}, {"latency_cycles", 4}})),
              HasSubstr("lanes must divide the 32 threads of a warp"));
  EXPECT_THAT(with("instructions", on({{"unit", "core"}, {"lanes", 8}, {"latency_cycles", 0}})),
              HasSubstr("latency_cycles must"));
  EXPECT_THAT(with("instructions", {{"name", "new"}, {"on", json::array()}}),
              HasSubstr("on must hold a unit"));
  EXPECT_THAT(with("units", {{"name", "core"}, {"scope", "sm"}}), HasSubstr("'core' twice"));
  EXPECT_THAT(with("units", {{"name", "more"}, {"scope", "sm"}, {"count", 65}}),
              HasSubstr("count must"));
  EXPECT_THAT(complaint("/pipelines/ops/int_add", json::array({"NONE"})),
              AllOf(HasSubstr("mine.json.pipelines.ops.int_add"), HasSubstr("'NONE'")));
  EXPECT_THAT(complaint("/pipelines/ops/float_tan", json::array({"FFMA"})),
              HasSubstr("mine.json.pipelines.ops.float_tan is not a known key"));
  EXPECT_THAT(complaint("/pipelines/schedulers", 0),
              HasSubstr("mine.json.pipelines.schedulers must"));
}

TEST(ModelTest, names_file_and_key_of_what_is_wrong) {
  struct Wrong {
    const char* place;
    json value;  // null: the key is missing
    const char* complaint;
  };
  for (const Wrong& wrong : std::initializer_list<Wrong>{
           {"/caches/0/lines", 1, "mine.json.caches[0].lines is not a known key"},
           {"/caches/0/line_bytes", nullptr, "mine.json.caches[0].line_bytes is missing"},
           {"/caches/0/line_bytes", 0, "must be a positive size"},
           {"/caches/0/line_bytes", -32, "must be a positive size"},
           {"/caches/0/line_bytes", 48, "power of two"},
           {"/caches/0/ways", 0, "caches[0].ways must be a whole number of at least 1"},
           {"/caches/0/replacement", "belady",
            "is 'belady', which is none of lru, fifo, tree_plru"},
           {"/caches/0/write_policy/hit", "write_back",
            "caches[0].write_policy.hit is 'write_back', which is none of update, invalidate"},
           {"/caches/0/sets", 3, "reaches set 3, but there are only 3"},
           {"/caches/0/index/masks", json::array(), "index.masks must be 1 to 24 masks"},
           {"/caches/0/index/masks/1", "0xg", "index.masks[1] must be a mask"},
           {"/paths/ca/caches/0", "l9", "names 'l9'"},
           {"/paths/ca/caches", "l1", "paths.ca.caches must be a list"},
           {"/paths/ca/latency_cycles/l2/walk_cold", nullptr,
            "paths.ca.latency_cycles.l2.walk_cold is missing"},
           {"/occupancy/parts", 3, "occupancy.parts must divide registers_per_sm"},
           {"/chip/enabled_tpcs", 17, "chip.enabled_tpcs"},
           {"/device/name", 7, "must be text"}}) {
    EXPECT_THAT(complaint(wrong.place, wrong.value), HasSubstr(wrong.complaint)) << wrong.place;
  }
}

TEST(ModelTest, way_weights_must_match_the_ways) {
  json model = quiet_json("gtx980");
  model["caches"][0]["replacement"] = "weighted_ways";
  EXPECT_THAT(complaint_about(model, "/caches/0/way_weights", {1, 3, 1}),
              HasSubstr("must hold one for each way"));
}

TEST(ModelTest, what_a_cache_says_holds_for_its_carveouts) {
  const Model model = load_model("h200");
  const CacheModel& l1 = *model.find_cache("l1");
  ASSERT_EQ(l1.geometries.size(), 10u);
  for (const Geometry& geometry : l1.geometries) {
    EXPECT_EQ(geometry.ways_per_set, std::vector<std::uint32_t>(512, 4)) << geometry.shared_bytes;
  }
}

TEST(ModelTest, a_cache_without_write_policy_ignores_stores) {
  json model = quiet_json("gtx980");
  model["caches"][0].erase("write_policy");
  const WritePolicy policy = parse_model(model.dump(), "mine.json").caches[0].write_policy;
  EXPECT_EQ(policy.hit, StoreHit::ignore);
  EXPECT_EQ(policy.miss, StoreMiss::no_allocate);
}

TEST(ModelTest, carveouts_and_geometries_must_match) {
  json model = quiet_json("c2070");
  model["caches"][0]["by_carveout"][0]["shared_kib"] = 32;
  EXPECT_THROW(parse_model(model.dump(), "mine.json"), ConfigError);
}

TEST(ModelTest, backends_are_checked_before_any_rank_works) {
  EXPECT_NO_THROW(check_backend(parse_backend("sim:gtx980,h200+slow_sm=17:3")));
  EXPECT_THROW(check_backend(parse_backend("sim:gtx980,gtx981")), ConfigError);
  EXPECT_THROW(parse_backend("sim:"), ConfigError);
  EXPECT_THROW(parse_backend("sim:gtx980,"), ConfigError);
  EXPECT_THROW(parse_backend("opencl"), ConfigError);
}

TEST(ModelTest, models_are_dealt_to_the_ranks_in_order) {
  const BackendChoice backend = parse_backend("sim:gtx780,gtx980");
  const char* names[] = {"GeForce GTX 780", "GeForce GTX 980", "GeForce GTX 780"};
  for (int rank = 0; rank < 3; ++rank) {
    const DeviceChoice choice = list_visible_devices(backend, rank, 5).at(0);
    const auto device = open_device(backend, choice, 5);
    EXPECT_EQ(device->info().name, names[rank]);
    EXPECT_EQ(device->info().uuid, choice.uuid);
  }
}

}  // namespace
}  // namespace sonde::sim
