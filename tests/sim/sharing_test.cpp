// The job sharing gives back who shares the caches of the shipped models, and which of them are one
// array; the GTX 280 from all its traces (Wong 2010, figures 20 and 21).
#include "sim/hierarchy_truth.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <map>

namespace sonde::test {
namespace {

/// A cache of the model under the name that the jobs give it.
struct DeclaredCache {
  std::size_t number = 0;  // in Model::caches
  double hit_cycles = 0;
  double miss_cycles = 0;  // found in the next level
};
using DeclaredCaches = std::map<std::string, DeclaredCache, std::less<>>;

/// The caches of a path before the L2, under these names in their order.
void add_path(const sim::Model& model, LoadPath path, const std::vector<std::string>& names,
              DeclaredCaches& caches) {
  const sim::PathModel* declared = path_of(model, path);
  if (declared == nullptr) return;
  for (std::size_t level = 0; level < declared->caches.size(); ++level) {
    if (model.caches[declared->caches[level]].name == "l2" || level >= names.size()) return;
    const sim::LatencyRow& next =
        level + 1 < declared->caches.size() ? declared->hit[level + 1] : declared->dram;
    caches[names[level]] = {.number = declared->caches[level],
                            .hit_cycles = static_cast<double>(declared->hit[level].front()),
                            .miss_cycles = static_cast<double>(next.front())};
  }
}

DeclaredCaches declared_caches(const sim::Model& model) {
  DeclaredCaches caches;
  add_path(model, LoadPath::all_levels, {"l1"}, caches);
  add_path(model, LoadPath::read_only, {"readonly"}, caches);
  add_path(model, LoadPath::texture_1d, {"texture_l1", "texture_l2"}, caches);
  add_path(model, LoadPath::constant, {"constant_l1", "constant_l2", "constant_l3"}, caches);
  std::vector<std::string> code{"instruction_l1", "instruction_l2", "instruction_l3"};
  if (model.device.sm_partition_instruction_caches) code.insert(code.begin(), "instruction_l0");
  add_path(model, LoadPath::instruction, code, caches);
  return caches;
}

/// Findings of the cache jobs as they should be.
void assume_caches(JobOnSim& sim, const DeclaredCaches& caches) {
  for (const auto& [name, declared] : caches) {
    const sim::CacheModel& cache = sim.truth().caches[declared.number];
    const std::string prefix = "cache." + name + ".";
    sim.assume(prefix + "size_bytes", size_of(cache, chosen_carveout(sim)));
    sim.assume(prefix + "line_bytes", static_cast<double>(cache.line_bytes));
    sim.assume(prefix + "hit_latency_cycles", declared.hit_cycles);
    sim.assume(prefix + "miss_latency_cycles", declared.miss_cycles);
  }
  for (const char* name :
       {"l1", "readonly", "texture_l1", "texture_l2", "constant_l1", "constant_l2", "constant_l3",
        "instruction_l0", "instruction_l1", "instruction_l2", "instruction_l3"}) {
    if (caches.contains(name)) continue;
    sim.assume(not_present("cache." + std::string(name) + ".size_bytes", "not declared"));
  }
}

class Gtx280SharingTest : public testing::TestWithParam<std::uint64_t> {};

TEST_P(Gtx280SharingTest, finds_from_traces_what_wong_found) {
  JobOnSim sim("gtx280", GetParam(),
               {"clock", "cache.l1", "cache.readonly", "cache.l2", "cache.texture_l1",
                "cache.texture_l2", "cache.constant_l1", "cache.constant_l2", "cache.constant_l3",
                "cache.instruction", "topology", "sharing"});

  EXPECT_EQ(sim.text("sharing.constant_l1.scope"), "sm");
  EXPECT_EQ(sim.text("sharing.constant_l2.scope"), "tpc");
  EXPECT_EQ(sim.text("sharing.constant_l3.scope"), "device");
  EXPECT_EQ(sim.text("sharing.instruction_l1.scope"), "sm");
  EXPECT_EQ(sim.text("sharing.instruction_l2.scope"), "tpc");
  EXPECT_EQ(sim.text("sharing.instruction_l3.scope"), "device");
  EXPECT_EQ(sim.text("sharing.texture_l1.scope"), "tpc");
  EXPECT_EQ(sim.text("sharing.texture_l2.scope"), "device");
  EXPECT_EQ(sim.text("clock.scope"), "tpc");
  EXPECT_EQ(sim.number("clock.granularity_cycles"), 2);
  EXPECT_EQ(sim.number("sharing.constant_l1.sms"), 1);
  EXPECT_EQ(sim.number("sharing.constant_l2.sms"), 3);
  EXPECT_EQ(sim.number("sharing.constant_l3.sms"), 30);
  EXPECT_EQ(sim.text("sharing.constant_l1_code"), "no");
  EXPECT_EQ(sim.text("sharing.constant_l2_code"), "instruction_l2");
  EXPECT_EQ(sim.text("sharing.constant_l3_code"), "instruction_l3");
  EXPECT_EQ(sim.text("sharing.texture_l1_constant_l1"), "no");
  EXPECT_EQ(sim.status("sharing.l1.scope"), Status::not_present);
}

INSTANTIATE_TEST_SUITE_P(Seed, Gtx280SharingTest, seeds_to(3));

/// Which SMs form TPCs, GT200's of three, too.
void run_topology(JobOnSim& sim) {
  sim.run("clock");
  sim.run("topology");
}

TEST(SharingOfTexturesTest, scopes_are_what_is_declared_and_not_what_is_usual) {
  auto model = json_of("gtx280");
  for (auto& cache : model["caches"]) {
    if (cache["name"] == "texture_l1") cache["scope"] = "sm";
    if (cache["name"] == "texture_l2") cache["scope"] = "tpc";
  }
  JobOnSim sim(write_model(model, "gtx280_of_other_texture_caches"));
  run_topology(sim);
  assume_caches(sim, declared_caches(sim.truth()));

  sim.run("sharing");

  EXPECT_EQ(sim.text("sharing.texture_l1.scope"), "sm");
  EXPECT_EQ(sim.text("sharing.texture_l2.scope"), "tpc");
  EXPECT_EQ(sim.number("sharing.texture_l2.sms"), 3);
}

class SharingTest : public ShippedModelTest {};

TEST_P(SharingTest, gives_back_scopes_and_arrays) {
  run_topology(sim_);
  assume_caches(sim_, declared_caches(sim_.truth()));

  sim_.run("sharing");

  // Two chases cannot overfill the H200's second constant cache: it holds the whole bank.
  expect_declared(sim_, {"sharing."}, model_name() == "h200" ? 1 : 0);
}

INSTANTIATE_TEST_SUITE_P(Shipped, SharingTest,
                         testing::Combine(testing::ValuesIn(shipped_models), seeds_to(2)),
                         name_case);

/// Of caches whose line was left open: what a miss brings is asked for in its place.
TEST(SharingOfOpenLinesTest, scopes_are_told_by_what_a_miss_brings) {
  JobOnSim sim("gtx280");
  for (const auto& [name, declared] : declared_caches(sim.truth())) {
    const sim::CacheModel& cache = sim.truth().caches[declared.number];
    const std::string prefix = "cache." + name + ".";
    sim.assume(prefix + "size_bytes",
               static_cast<double>(cache.size_bytes(cache.geometries.front())));
    sim.assume(prefix + "fetch_bytes", static_cast<double>(cache.fetch_bytes));
    sim.assume(prefix + "hit_latency_cycles", declared.hit_cycles);
    sim.assume(prefix + "miss_latency_cycles", declared.miss_cycles);
  }

  sim.run("sharing");

  EXPECT_EQ(sim.number("sharing.constant_l1.sms"), 1);
  EXPECT_EQ(sim.number("sharing.constant_l2.sms"), 3);
  EXPECT_EQ(sim.text("sharing.constant_l2_code"), "instruction_l2");
}

/// Runs the job with another size of the first cache of constants: what is assumed first counts.
JobOnSim share_with_size(double size_bytes) {
  JobOnSim sim("gtx280");
  sim.assume("cache.constant_l1.size_bytes", size_bytes);
  assume_caches(sim, declared_caches(sim.truth()));
  sim.run("sharing");
  return sim;
}

/// 2 KiB: two lists of a quarter fit, so they are made longer until they do not.
TEST(SharingReasonTest, lists_are_lengthened_until_two_overfill_a_cache) {
  const JobOnSim sim = share_with_size(512);
  EXPECT_EQ(sim.text("sharing.constant_l1.scope"), "sm");
  EXPECT_EQ(sim.number("sharing.constant_l1.sms"), 1);
  EXPECT_EQ(sim.text("sharing.constant_l1_code"), "no");
}

/// What the jobs on caches find of an H200: its second constant cache holds the whole bank.
void assume_h200(JobOnSim& sim) {
  sim.assume(not_resolvable("cache.constant_l2.size_bytes", "holds the whole constant bank"));
  sim.assume(not_resolvable("cache.constant_l2.line_bytes", "holds the whole constant bank"));
  sim.assume(not_resolvable("cache.constant_l2.miss_latency_cycles", "no chase overflows it"));
  sim.assume("cache.l2.hit_latency_cycles", 279.0);
  assume_caches(sim, declared_caches(sim.truth()));
}

/// An H200 whose second constant cache is the cache of code.
nlohmann::json h200_of_one_array() {
  auto model = json_of("h200");
  auto& constants = model["paths"]["constant"];
  constants["caches"] = {"constant_l1", "instruction_l1", "l2"};
  constants["latency_cycles"]["instruction_l1"] = constants["latency_cycles"]["constant_l2"];
  constants["latency_cycles"].erase("constant_l2");
  return model;
}

TEST(SharingOfTheBankTest, code_beside_the_whole_bank_tells_whether_both_are_one_array) {
  JobOnSim apart("h200");
  assume_h200(apart);
  apart.run("sharing");
  EXPECT_EQ(apart.text("sharing.constant_l2_code"), "no");
  EXPECT_EQ(apart.text("sharing.constant_l2.scope"), "sm");

  JobOnSim one(write_model(h200_of_one_array(), "h200_of_one_constant_and_code_cache"));
  assume_h200(one);
  one.run("sharing");
  EXPECT_EQ(one.text("sharing.constant_l2_code"), "instruction_l1");
  EXPECT_EQ(one.text("sharing.constant_l1_code"), "no");
}

/// Chases over lines that are too long would leave most of the array free.
TEST(SharingOfTheBankTest, a_doubtful_line_does_not_tell_two_arrays) {
  auto model = h200_of_one_array();
  for (auto& cache : model["caches"]) {
    if (cache["name"] != "instruction_l1") continue;
    // Lines 1 KiB apart use all sets, too.
    cache["index"] = {{"kind", "xor_masks"},
                      {"masks", {"0x480", "0x900", "0x1200", "0x2400", "0x4800", "0x9000"}}};
  }
  JobOnSim sim(write_model(model, "h200_of_one_array_and_a_doubtful_line"));
  sim.assume(found("cache.instruction_l1.line_bytes", 1024.0, 0.46, 1));
  sim.assume("cache.instruction_l1.fetch_bytes", 128.0);
  assume_h200(sim);
  sim.run("sharing");
  EXPECT_EQ(sim.text("sharing.constant_l2_code"), "instruction_l1");
}

/// On an H200 the cache of code loses its first line long before it is full.
TEST(SharingOfTheBankTest, one_array_is_told_if_its_lines_are_lost_one_by_one) {
  auto model = h200_of_one_array();
  double size_bytes = 0;
  for (auto& cache : model["caches"]) {
    if (cache["name"] != "instruction_l1") continue;
    cache["replacement"] = "random";
    size_bytes = cache["sets"].get<double>() * cache["ways"].get<double>() *
                 cache["line_bytes"].get<double>();
  }
  JobOnSim sim(write_model(model, "h200_of_one_random_array"));
  sim.assume(not_resolvable("cache.instruction_l1.size_bytes", "lines are lost gradually"));
  sim.assume("cache.instruction_l1.first_miss_bytes", 0.85 * size_bytes);
  assume_h200(sim);
  sim.run("sharing");
  EXPECT_EQ(sim.text("sharing.constant_l2_code"), "instruction_l1");
}

/// A miss brings eight of the lines that are known, so that most new ones are found, as on a GPU
/// that fetches code ahead.
TEST(SharingOfCodeTest, where_new_lines_are_found_chases_tell_who_shares) {
  auto model = json_of("h200");
  for (auto& cache : model["caches"]) {
    if (cache["name"] != "instruction_l1") continue;
    cache["line_bytes"] = 1024;
    cache["sets"] = 8;
    cache["index"] = {{"kind", "bit_field"}, {"low_bit", 10}, {"bits", 3}};
    cache["scope"] = "tpc";
  }
  JobOnSim sim(write_model(model, "h200_of_code_fetched_ahead"));
  sim.assume("cache.instruction_l1.line_bytes", 128.0);
  assume_h200(sim);

  sim.run("sharing");

  EXPECT_EQ(sim.number("sharing.instruction_l1.sms"), 2);
}

}  // namespace
}  // namespace sonde::test
