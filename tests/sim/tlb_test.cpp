// The job tlb gives back every TLB of every shipped model: levels, structure, who shares them, the
// page and its window.
#include "analysis/structure/index/index_function.hpp"
#include "base/gpu_facts.hpp"
#include "sim/hierarchy_truth.hpp"

#include <fmt/format.h>

namespace sonde::test {
namespace {

class TlbTest : public ShippedModelTest {};

std::string text_of(sim::Scope scope) {
  switch (scope) {
    case sim::Scope::sm: return "sm";
    case sim::Scope::tpc: return "tpc";
    case sim::Scope::gpc: return "gpc";
    case sim::Scope::partition:
    case sim::Scope::device: break;
  }
  return "device";
}

/// The last cache of the path, or the memory: what page chases hit co_resident the TLB.
const sim::LatencyRow& row_of(const sim::PathModel& path) {
  return path.hit.empty() ? path.dram : path.hit.back();
}

void expect_level(const JobOnSim& sim, const std::string& name, const sim::CacheModel& tlb,
                  double penalty_cycles) {
  const auto entries = static_cast<double>(tlb.geometries.front().lines());
  const auto entry_bytes = static_cast<double>(tlb.line_bytes);
  EXPECT_EQ(sim.number(name + ".reach_bytes"), entries * entry_bytes) << name;
  EXPECT_EQ(sim.number(name + ".entry_bytes"), entry_bytes) << name;
  EXPECT_EQ(sim.number(name + ".entries"), entries) << name;
  EXPECT_EQ(sim.number(name + ".sub_entries"), entry_bytes / static_cast<double>(tlb.sector_bytes));
  EXPECT_EQ(sim.text(name + ".scope"), text_of(tlb.scope)) << name;
  EXPECT_NEAR(sim.number(name + ".miss_penalty_cycles"), penalty_cycles, 3) << name;
}

void expect_structure(const JobOnSim& sim, const std::string& name, const sim::CacheModel& tlb) {
  const sim::Geometry& geometry = tlb.geometries.front();
  std::vector<double> ways(geometry.ways_per_set.begin(), geometry.ways_per_set.end());
  std::sort(ways.begin(), ways.end(), std::greater<>());
  EXPECT_EQ(sim.number(name + ".sets"), static_cast<double>(ways.size())) << name;
  EXPECT_EQ(sim.vector(name + ".ways_per_set"), ways) << name;
  EXPECT_EQ(sim.text(name + ".replacement"), "LRU") << name;
  EXPECT_EQ(sim.status(name + ".way_probability"), Status::not_present) << name;
  EXPECT_EQ(sim.find(name + ".sets").confidence, 1) << name;
  if (geometry.index.kind == sim::DeclaredIndex::Kind::table) {
    EXPECT_EQ(sim.status(name + ".index_function"), Status::not_resolvable) << name;
  } else if (geometry.index.kind == sim::DeclaredIndex::Kind::xor_masks) {
    IndexFunction declared;
    declared.kind = IndexKind::xor_masks;
    declared.masks = geometry.index.masks;
    EXPECT_EQ(sim.text(name + ".index_function"), describe(declared)) << name;
  } else {
    const int low = geometry.index.low_bit;
    const int bits = geometry.index.bits;
    EXPECT_EQ(sim.text(name + ".index_function"),
              bits == 0 ? "one set" : fmt::format("bits {}-{}", low, low + bits - 1))
        << name;
  }
}

TEST_P(TlbTest, gives_back_every_level_the_page_and_its_window) {
  sim_.run("clock");
  sim_.run("topology");
  sim_.run("tlb");

  const sim::Model& truth = sim_.truth();
  const std::array<std::string, 3> names{"tlb.l1", "tlb.l2", "tlb.l3"};
  const sim::LatencyRow& row = row_of(*path_of(truth, LoadPath::past_l1));
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i < truth.pages.tlbs.size()) {
      expect_level(sim_, names[i], truth.pages.tlbs[i], row[i + 1] - row[0]);
      expect_structure(sim_, names[i], truth.pages.tlbs[i]);
    } else {
      EXPECT_EQ(sim_.status(names[i] + ".reach_bytes"), Status::not_present) << names[i];
      EXPECT_EQ(sim_.status(names[i] + ".sets"), Status::not_present) << names[i];
    }
  }
  const std::array<std::string, 2> texture_names{"tlb.texture_l1", "tlb.texture_l2"};
  for (std::size_t i = 0; i < texture_names.size(); ++i) {
    const std::string& name = texture_names[i];
    if (i < truth.pages.path_tlbs.size()) {
      const sim::LatencyRow& texture_row = row_of(*path_of(truth, LoadPath::texture_1d));
      expect_level(sim_, name, truth.pages.path_tlbs[i], texture_row[i + 1] - texture_row[0]);
      expect_structure(sim_, name, truth.pages.path_tlbs[i]);
    } else {
      EXPECT_NE(sim_.status(name + ".sets"), Status::ok) << name;
      EXPECT_EQ(sim_.status(name + ".reach_bytes") == Status::not_present,
                !truth.pages.tlbs.empty());
    }
  }
  // Where the smallest entry holds several pages none of them is seen alone, as on real H200s.
  const bool seen_alone = !truth.pages.tlbs.empty() && smallest_entry(truth) <= large_page_bytes;
  if (!seen_alone) {
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
