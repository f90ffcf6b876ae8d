// The job cache.l2 gives back the L2 of every shipped model, with its partitions.
#include "sim/hierarchy_truth.hpp"

namespace sonde::test {
namespace {

class CacheL2Test : public ShippedModelTest {};

TEST_P(CacheL2Test, gives_back_the_l2) {
  sim_.run("cache.l2", SuiteLevel::quick);

  const sim::Model& truth = sim_.truth();
  const sim::CacheModel* l2 = truth.find_cache("l2");
  if (l2 == nullptr) {
    EXPECT_EQ(sim_.status("cache.l2.size_bytes"), Status::not_present);
    EXPECT_EQ(sim_.status("cache.l2.line_bytes"), Status::not_present);
    return;
  }
  const double part = size_of(*l2, 0);
  EXPECT_EQ(sim_.number("cache.l2.size_bytes"), part * truth.partitions.count);
  EXPECT_EQ(sim_.number("cache.l2.line_bytes"), static_cast<double>(l2->line_bytes));
  EXPECT_EQ(sim_.number("cache.l2.sector_bytes"), static_cast<double>(l2->sector_bytes));
  EXPECT_EQ(sim_.number("cache.l2.fetch_bytes"), static_cast<double>(l2->fetch_bytes));
  const sim::PathModel& cg = *path_of(truth, LoadPath::past_l1);
  const double offset = sm_offset_cycles(truth, seed(), LoadPath::past_l1);
  const double hit = cg.hit.back().front() + offset;
  EXPECT_NEAR(sim_.number("cache.l2.hit_latency_cycles"), hit, tolerance_cycles(truth, hit));
  if (truth.partitions.count == 1) {
    EXPECT_EQ(sim_.status("cache.l2.segment_bytes"), Status::not_present);
    EXPECT_EQ(sim_.status("cache.l2.far_hit_latency_cycles"), Status::not_present);
    return;
  }
  // At 1.5 partitions of 30 MiB the chase has more pages than the first level of the TLB: some far
  // hits pay for that.
  const double translation = cg.far_hit[1] - cg.far_hit[0];
  EXPECT_EQ(sim_.number("cache.l2.segment_bytes"), part);
  EXPECT_NEAR(sim_.number("cache.l2.far_hit_latency_cycles"),
              cg.far_hit.front() + offset + translation / 2,
              tolerance_cycles(truth, hit) + translation / 2);
}

INSTANTIATE_TEST_SUITE_P(Shipped, CacheL2Test, all_models_and_seeds(), name_case);

}  // namespace
}  // namespace sonde::test
