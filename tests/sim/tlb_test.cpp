// The job tlb gives back the TLB levels, pages and windows of every shipped model.
#include "jobs/jobs.hpp"
#include "tests/sim/hierarchy_truth.hpp"

namespace sonde::test {
namespace {

class TlbTest : public ShippedModelTest {};

void expect_level(const JobOnSim& sim, const std::string& name, const sim::CacheModel& tlb,
                  double penalty_cycles) {
  const auto entries = static_cast<double>(tlb.geometries.front().lines());
  const auto entry_bytes = static_cast<double>(tlb.line_bytes);
  EXPECT_EQ(sim.number(name + ".reach_bytes"), entries * entry_bytes) << name;
  EXPECT_EQ(sim.number(name + ".entry_bytes"), entry_bytes) << name;
  EXPECT_EQ(sim.number(name + ".entries"), entries) << name;
  EXPECT_NEAR(sim.number(name + ".miss_penalty_cycles"), penalty_cycles, 3) << name;
}

TEST_P(TlbTest, gives_back_every_level_the_page_and_its_window) {
  sim_.run(run_tlb);

  const sim::Model& truth = sim_.truth();
  const std::array<std::string, 3> names{"tlb.l1", "tlb.l2", "tlb.l3"};
  // The last cache of the path, or the memory: what page walks hit beside the TLB.
  const sim::PathModel& cg = *path_of(truth, LoadPath::cg);
  const sim::LatencyRow& row = cg.hit.empty() ? cg.dram : cg.hit.back();
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i < truth.pages.tlbs.size()) {
      expect_level(sim_, names[i], truth.pages.tlbs[i], row[i + 1] - row[0]);
    } else {
      EXPECT_EQ(sim_.status(names[i] + ".reach_bytes"), Status::not_present) << names[i];
    }
  }
  if (truth.pages.tlbs.empty()) {
    EXPECT_EQ(sim_.status("tlb.page_bytes"), Status::not_resolvable);
  } else {
    EXPECT_EQ(sim_.number("tlb.page_bytes"), static_cast<double>(smallest_entry(truth)));
  }
  if (truth.pages.window_bytes == 0) {
    EXPECT_EQ(sim_.status("tlb.page_window_bytes"), Status::not_present);
  } else {
    EXPECT_EQ(sim_.number("tlb.page_window_bytes"), static_cast<double>(truth.pages.window_bytes));
  }
}

INSTANTIATE_TEST_SUITE_P(Shipped, TlbTest, all_models_and_seeds(), name_case);

}  // namespace
}  // namespace sonde::test
