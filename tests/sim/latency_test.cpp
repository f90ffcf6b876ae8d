// The job latency gives back the declared latencies of every shipped model: levels by path, and
// Mei and Chu's patterns.
#include "sim/hierarchy_truth.hpp"

namespace sonde::test {
namespace {

std::uint64_t largest_entry(const sim::Model& model) {
  std::uint64_t entry = model.pages.page_bytes;
  for (const sim::CacheModel& tlb : model.pages.tlbs) entry = std::max(entry, tlb.line_bytes);
  return entry;
}

std::uint64_t smallest_entry(const sim::Model& model) {
  std::uint64_t entry = largest_entry(model);
  for (const sim::CacheModel& tlb : model.pages.tlbs) entry = std::min(entry, tlb.sector_bytes);
  return entry;
}

/// Findings of the cache and TLB jobs as they should be: sizes, lines, reaches and pages alone.
void assume_levels(JobOnSim& sim) {
  const sim::Model& model = sim.truth();
  const std::uint64_t carveout = chosen_carveout(sim);
  if (const sim::CacheModel* l1 = first_cache_of(model, LoadPath::all_levels)) {
    sim.assume("cache.l1.size_bytes", size_of(*l1, carveout));
    sim.assume("cache.l1.line_bytes", static_cast<double>(l1->line_bytes));
  }
  if (const sim::CacheModel* readonly = first_cache_of(model, LoadPath::read_only)) {
    sim.assume("cache.readonly.size_bytes", size_of(*readonly, carveout));
    sim.assume("cache.readonly.line_bytes", static_cast<double>(readonly->line_bytes));
  }
  if (const sim::CacheModel* l2 = model.find_cache("l2")) {
    const double part = size_of(*l2, carveout);
    sim.assume("cache.l2.size_bytes", part * model.partitions.count);
    sim.assume("cache.l2.first_miss_bytes", part);
    sim.assume("cache.l2.line_bytes", static_cast<double>(l2->line_bytes));
  }
  const char* names[] = {"tlb.l1", "tlb.l2", "tlb.l3"};
  for (std::size_t i = 0; i < model.pages.tlbs.size(); ++i) {
    const sim::CacheModel& tlb = model.pages.tlbs[i];
    const auto entries = static_cast<double>(tlb.geometries.front().lines());
    const std::string name = names[i];
    sim.assume(name + ".entries", entries);
    sim.assume(name + ".entry_bytes", static_cast<double>(tlb.line_bytes));
    sim.assume(name + ".reach_bytes", entries * static_cast<double>(tlb.line_bytes));
  }
  for (std::size_t i = model.pages.tlbs.size(); i < std::size(names); ++i) {
    sim.assume(no_answer(std::string(names[i]) + ".reach_bytes", Status::not_present, "assumed"));
  }
  if (!model.pages.tlbs.empty()) {
    sim.assume("tlb.page_bytes", static_cast<double>(smallest_entry(model)));
  }
  if (model.pages.window_bytes > 0) {
    sim.assume("tlb.page_window_bytes", static_cast<double>(model.pages.window_bytes));
  } else {
    sim.assume(no_answer("tlb.page_window_bytes", Status::not_present, "assumed"));
  }
}

class LatencyTest : public ShippedModelTest {};

TEST_P(LatencyTest, gives_back_patterns_levels_and_a_staircase) {
  assume_levels(sim_);

  sim_.run("latency", seed() == 1 ? SuiteLevel::standard : SuiteLevel::quick);

  expect_declared(sim_, {"latency."});
  if (model_name() == "c2070") {  // Meltzer 2013: past the L1 an L2 hit takes 6 to 11 cycles less
    EXPECT_NEAR(sim_.number("latency.ca.l2_cycles") - sim_.number("latency.cg.l2_cycles"), 8.5,
                2.5);
  }
  const std::vector<double> bytes = sim_.vector("latency.staircase_bytes");
  const std::vector<double> cycles = sim_.vector("latency.staircase_cycles");
  ASSERT_EQ(bytes.size(), cycles.size());
  ASSERT_GE(bytes.size(), 16U);
  const sim::PathModel& ca = *path_of(sim_.truth(), LoadPath::all_levels);

  const sim::LatencyRow& first = ca.caches.empty() ? ca.dram : ca.hit.front();
  EXPECT_NEAR(cycles.front(), first.front(), 20);
  if (!ca.caches.empty()) {
    // Twice the L2: lines that its replacement keeps by chance are hits still.
    const double l2 = ca.hit.back().front();
    EXPECT_GT(cycles.back(), l2 + (ca.dram.front() - l2) / 4);
  }
}

INSTANTIATE_TEST_SUITE_P(Shipped, LatencyTest, all_models_and_seeds(), name_case);

/// An L2 of two partitions that keep no copies of each other's lines, and whole pages at home in
/// one of them: hits of a page are all near or all far.
TEST(LatencyPartitionsTest, without_copies_near_hits_are_no_first_level) {
  nlohmann::json model = test::json_of("h200");
  model["partitions"] = {{"home_mask", "0x1E00000"}};
  const std::string path = write_model(model, "partitions_without_copies");
  for (std::uint64_t seed : {1u, 2u}) {
    JobOnSim sim(path, seed);
    assume_levels(sim);
    ASSERT_NO_THROW(sim.run("latency", SuiteLevel::quick)) << seed;
    EXPECT_NEAR(sim.number("latency.ca.l1_cycles"), sim.number("latency.l1_cycles"), 0.5);
  }
}

TEST(LatencyWrongSizesTest, a_small_l2_that_another_job_believes_in_costs_no_job) {
  JobOnSim sim("gtx980");
  sim.assume("clock.window_cycles", 20.0);
  sim.assume("cache.l1.size_bytes", 24576.0);
  sim.assume("cache.l2.first_miss_bytes", 6144.0);
  ASSERT_NO_THROW(sim.run("latency", SuiteLevel::quick));
  EXPECT_GT(sim.number("latency.l1_cycles"), 0);
}

}  // namespace
}  // namespace sonde::test
