// The classical staircases of the job latency: right about a textbook cache, and in contradiction
// with each other or with the declared truth on caches that are none.
#include "device/sim/model/model_files.hpp"
#include "jobs/latency/parts.hpp"
#include "sim/hierarchy_truth.hpp"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <fstream>

namespace sonde::test {
namespace {

using testing::HasSubstr;

/// A model with what the job cache.l1 would have found.
JobOnSim with_l1_known(const std::string& model) {
  JobOnSim sim(model);
  assume_hierarchy(sim);
  if (const sim::CacheModel* l1 = first_cache(sim.truth(), LoadPath::all_levels)) {
    sim.assume("cache.l1.ways",
               static_cast<double>(l1->geometry_for(chosen_carveout(sim)).ways_per_set.front()));
  }
  return sim;
}

/// The L1 of a C2070, sets by the lowest bits of the line, if it replaced in LRU order.
std::string write_textbook_gpu() {
  const auto shipped = std::ranges::find(sim::shipped_models(), "c2070", &sim::ShippedModel::name);
  auto model = nlohmann::json::parse(shipped->json);
  for (auto& geometry : model["caches"][0]["by_carveout"]) geometry["replacement"] = "lru";
  const std::string path = testing::TempDir() + "textbook_gpu.json";
  std::ofstream(path) << model;
  return path;
}

TEST(StaircasesTest, both_methods_agree_with_the_truth_of_a_textbook_cache) {
  JobOnSim sim = with_l1_known(write_textbook_gpu());

  sim.run_part("latency", report_classical_staircases);

  EXPECT_EQ(sim.number("latency.saavedra_ways"), 6);
  EXPECT_EQ(sim.number("latency.wong_ways"), 6);
  EXPECT_EQ(sim.find("latency.saavedra_ways").reason, "");
  EXPECT_EQ(sim.find("latency.wong_ways").confidence, 1);
}

TEST(StaircasesTest, hashed_sets_make_the_methods_contradict_each_other) {
  JobOnSim sim = with_l1_known("fermi_dac16");

  sim.run_part("latency", report_classical_staircases);

  EXPECT_EQ(sim.number("latency.wong_ways"), 4);
  EXPECT_EQ(sim.number("latency.saavedra_ways"), 128);
  EXPECT_EQ(sim.find("latency.saavedra_ways").confidence, 0);
  EXPECT_EQ(sim.find("latency.wong_ways").confidence, 1);
  EXPECT_THAT(sim.find("latency.saavedra_ways").reason,
              AllOf(HasSubstr("128 ways"), HasSubstr("Wong (2010) 4 ways")));
}

TEST(StaircasesTest, random_replacement_of_a_fermi_contradicts_both) {
  JobOnSim sim = with_l1_known("gtx560ti");

  sim.run_part("latency", report_classical_staircases);

  for (const char* metric : {"latency.saavedra_ways", "latency.wong_ways"}) {
    const Finding& finding = sim.find(metric);
    EXPECT_NE(finding.reason, "") << metric;
    EXPECT_NE(finding.value, Value{6.0}) << metric;
  }
}

TEST(StaircasesTest, sets_by_higher_bits_look_like_longer_lines_to_wong) {
  JobOnSim sim = with_l1_known("gtx980");

  sim.run_part("latency", report_classical_staircases);

  EXPECT_EQ(sim.number("latency.wong_ways"), 48);  // 192 ways of 32 bytes, as if of 128
  EXPECT_THAT(sim.find("latency.wong_ways").reason, HasSubstr("single lines 192 ways"));
}

TEST(StaircasesTest, curves_have_a_row_for_each_footprint) {
  JobOnSim sim = with_l1_known("fermi_dac16");

  sim.run_part("latency", report_classical_staircases);

  const std::vector<double> strides = sim.vector("latency.saavedra_stride_bytes");
  const std::vector<double> footprints = sim.vector("latency.saavedra_footprint_bytes");
  const std::vector<double> cycles = sim.vector("latency.saavedra_cycles");
  ASSERT_EQ(cycles.size(), strides.size() * footprints.size());
  EXPECT_EQ(footprints, (std::vector<double>{8192, 16384, 32768, 65536}));
  EXPECT_EQ(strides.front(), 8);
  EXPECT_EQ(strides.back(), 16384);
  const sim::PathModel& ca = *path_of(sim.truth(), LoadPath::all_levels);
  EXPECT_NEAR(cycles.front(), ca.hit[0][0], 8);                       // half of the size
  EXPECT_NEAR(cycles[3 * strides.size() + 4], ca.hit.back()[0], 20);  // 4 x the size, by lines
  const std::vector<double> wong = sim.vector("latency.wong_cycles");
  EXPECT_EQ(wong.size(), sim.vector("latency.wong_footprint_bytes").size());
  EXPECT_LE(wong.size(), 70U);
}

TEST(StaircasesTest, read_only_loads_stand_in_where_plain_ones_have_no_cache) {
  JobOnSim sim = with_l1_known("gtx780");

  sim.run_part("latency", report_classical_staircases);

  EXPECT_THAT(sim.find("latency.wong_cycles").reason, HasSubstr("cache.readonly, by nc loads"));
}

TEST(StaircasesTest, no_cache_has_no_staircase_and_the_quick_suite_skips_them) {
  JobOnSim none = with_l1_known("gtx280");
  JobOnSim quick = with_l1_known("gtx980");

  none.run_part("latency", report_classical_staircases);
  quick.run_part("latency", report_classical_staircases, SuiteLevel::quick);

  EXPECT_EQ(none.status("latency.wong_cycles"), Status::not_present);
  EXPECT_EQ(none.status("latency.saavedra_ways"), Status::not_present);
  EXPECT_EQ(quick.status("latency.wong_cycles"), Status::skipped);
  EXPECT_THAT(quick.find("latency.saavedra_ways").reason, HasSubstr("standard suite"));
}

}  // namespace
}  // namespace sonde::test
