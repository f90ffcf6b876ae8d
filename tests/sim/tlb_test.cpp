// The job tlb gives back every TLB of every shipped model: levels, structure, who shares them, the
// page and its window.
#include "sim/hierarchy_truth.hpp"

namespace sonde::test {
namespace {

class TlbTest : public ShippedModelTest {};

/// The last cache of the path, or the memory: what page chases hit co_resident the TLB.
const sim::LatencyRow& row_of(const sim::PathModel& path) {
  return path.hit.empty() ? path.dram : path.hit.back();
}

/// Checked here because no declared suite covers it.
void expect_costs(const JobOnSim& sim, const std::string& name, const sim::CacheModel& tlb,
                  double penalty_cycles) {
  EXPECT_EQ(sim.number(name + ".sub_entries"),
            static_cast<double>(tlb.line_bytes) / static_cast<double>(tlb.sector_bytes));
  EXPECT_NEAR(sim.number(name + ".miss_penalty_cycles"), penalty_cycles, 3) << name;
  EXPECT_GE(sim.find(name + ".sets").confidence, 0.95) << name;
}

TEST_P(TlbTest, gives_back_every_level_the_page_and_its_window) {
  sim_.run("clock");
  sim_.run("topology");
  sim_.run("tlb");

  expect_declared(sim_, {"tlb."});
  const sim::PageModel& pages = sim_.truth().pages;
  const sim::LatencyRow& row = row_of(*path_of(sim_.truth(), LoadPath::past_l1));
  const std::string names[] = {"tlb.l1", "tlb.l2", "tlb.l3"};
  for (std::size_t i = 0; i < pages.tlbs.size(); ++i) {
    expect_costs(sim_, names[i], pages.tlbs[i], row[i + 1] - row[0]);
    EXPECT_EQ(sim_.number(names[i] + ".reach_bytes"), sim_.number(names[i] + ".tag_reach_bytes"));
  }
  if (sim_.truth().device.name == gtx560ti || sim_.truth().device.name == gtx780 ||
      sim_.truth().device.name == gtx980) {
    EXPECT_EQ(sim_.vector("tlb.l2.ways_per_set"), (std::vector<double>{17, 8, 8, 8, 8, 8, 8}));
  }
  const std::string texture_names[] = {"tlb.texture_l1", "tlb.texture_l2"};
  for (std::size_t i = 0; i < pages.path_tlbs.size(); ++i) {
    const sim::LatencyRow& texture_row = row_of(*path_of(sim_.truth(), LoadPath::texture_1d));
    expect_costs(sim_, texture_names[i], pages.path_tlbs[i], texture_row[i + 1] - texture_row[0]);
  }
}

INSTANTIATE_TEST_SUITE_P(Shipped, TlbTest, all_models_and_seeds(), name_case);

}  // namespace
}  // namespace sonde::test
