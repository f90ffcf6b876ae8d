// The job tlb gives back the TLB levels, pages and windows of every shipped model.
#include "jobs/jobs.hpp"
#include "tests/sim/hierarchy_truth.hpp"

namespace sonde::test {
namespace {

class TlbTest : public ShippedModelTest {};

TEST_P(TlbTest, gives_back_every_level) {
  sim_.run(run_tlb);

  const sim::Model& truth = sim_.truth();
  const std::array<std::string, 3> names{"tlb.l1", "tlb.l2", "tlb.l3"};
  // The last cache of the path, or the memory: what page walks hit beside the TLB.
  const sim::PathModel& cg = *path_of(truth, LoadPath::cg);
  const sim::LatencyRow& row = cg.hit.empty() ? cg.dram : cg.hit.back();
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i >= truth.pages.tlbs.size()) {
      EXPECT_EQ(sim_.status(names[i] + ".reach_bytes"), Status::not_present) << names[i];
      continue;
    }
    const sim::CacheModel& tlb = truth.pages.tlbs[i];
    const auto entries = static_cast<double>(tlb.geometries.front().lines());
    const auto entry_bytes = static_cast<double>(tlb.line_bytes);
    EXPECT_EQ(sim_.number(names[i] + ".reach_bytes"), entries * entry_bytes) << names[i];
    EXPECT_EQ(sim_.number(names[i] + ".entry_bytes"), entry_bytes) << names[i];
    EXPECT_EQ(sim_.number(names[i] + ".entries"), entries) << names[i];
    EXPECT_NEAR(sim_.number(names[i] + ".miss_penalty_cycles"), row[i + 1] - row[0], 3) << names[i];
  }
}

TEST_P(TlbTest, gives_back_the_page_and_its_window) {
  sim_.run(run_tlb);

  const sim::Model& truth = sim_.truth();
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
