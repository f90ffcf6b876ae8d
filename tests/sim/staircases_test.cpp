// The classical staircases of the job latency.
#include "jobs/latency/parts.hpp"
#include "sim/hierarchy_truth.hpp"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

namespace sonde::test {
namespace {

using testing::HasSubstr;

/// A model with what the job cache.l1 would have found.
JobOnSim with_l1_known(const std::string& model) {
  JobOnSim sim(model);
  assume_hierarchy(sim);
  return sim;
}

TEST(StaircasesTest, read_only_loads_stand_in_where_plain_ones_have_no_cache) {
  JobOnSim sim = with_l1_known("gtx780");

  sim.run_part("latency", report_classical_staircases);

  EXPECT_THAT(sim.find("latency.wong_cycles").reason, HasSubstr("cache.readonly, by nc loads"));
}

/// Meltzer 2013: a footprint of four times the L1 misses with each load from the stride of a line
/// on, and an L2 hit takes 350 cycles.
TEST(StaircasesTest, latency_against_stride_is_flat_from_the_line_of_a_c2070_on) {
  JobOnSim sim = with_l1_known("c2070");

  sim.run_part("latency", report_classical_staircases);

  const std::vector<double> strides = sim.vector("latency.saavedra_stride_bytes");
  const std::vector<double> cycles = sim.vector("latency.saavedra_cycles");
  const std::size_t last_row = cycles.size() - strides.size();
  for (std::size_t i = 0; i < strides.size() && strides[i] <= 8192; ++i) {
    if (strides[i] >= 128) {
      EXPECT_NEAR(cycles[last_row + i], 350, 0.03 * 350) << strides[i];
    } else {
      EXPECT_LT(cycles[last_row + i], 0.7 * 350) << strides[i];
    }
  }
}

TEST(StaircasesTest, no_cache_has_no_staircase_and_the_quick_suite_skips_them) {
  JobOnSim none = with_l1_known("gtx280");
  JobOnSim quick = with_l1_known("gtx980");

  none.run_part("latency", report_classical_staircases);
  quick.run_part("latency", report_classical_staircases, SuiteLevel::quick);

  EXPECT_EQ(none.status("latency.wong_cycles"), Status::not_present);
  EXPECT_EQ(quick.status("latency.wong_cycles"), Status::skipped);
  EXPECT_THAT(quick.find("latency.saavedra_cycles").reason, HasSubstr("standard suite"));
}

}  // namespace
}  // namespace sonde::test
