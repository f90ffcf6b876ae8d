// Atomics on shared memory, and that no cache is in front of it, come back from the job shared as a
// model declares them.
#include "sim/job_on_sim.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace sonde::test {
namespace {

JobOnSim shared_on(const std::string& model) {
  return JobOnSim(model, {"clock", "shared"}, SuiteLevel::quick);
}

/// A bank serves its threads one after the other, whether their words are the same or not.
void expect_declared_atomics(const JobOnSim& sim) {
  const sim::SharedAtomicModel& declared = *sim.truth().units.shared.atomics;
  for (int threads = 1; threads <= 32; threads *= 2) {
    const double further = (threads - 1) * declared.thread_cycles;
    const double unused = std::max(declared.interval_cycles, threads * declared.thread_cycles);
    const double counted =
        declared.counts_up ? std::max(declared.interval_cycles, declared.thread_cycles) : unused;
    const auto expect = [&](const std::string& metric, double cycles) {
      EXPECT_NEAR(sim.number(fmt::format("{}.{}", metric, threads)), cycles, 0.05)
          << metric << ", " << threads;
    };
    expect("shared.atomic_cycles", declared.latency_cycles + further);
    expect("shared.atomic_unused_cycles", unused);
    expect("shared.atomic_counted_cycles", counted);
    if (threads == 1) continue;
    expect("shared.atomic_bank_cycles", declared.latency_cycles + further);
    expect("shared.atomic_unused_bank_cycles", unused);
  }
  EXPECT_NEAR(sim.number("shared.atomic_cost_cycles"), declared.thread_cycles, 0.01);
  EXPECT_NEAR(sim.number("shared.atomic_bank_cost_cycles"), declared.thread_cycles, 0.01);
}

TEST(SharedAtomicSimTest, declared_atomics_come_back) {
  for (const char* model : {"gtx980", "h200"}) {
    SCOPED_TRACE(model);
    expect_declared_atomics(shared_on(model));
  }
}

/// Wong 2010, section IV-F: shared memory is not cached.
class SharedFootprintSimTest : public testing::TestWithParam<const char*> {};

TEST_P(SharedFootprintSimTest, nothing_caches_shared_memory) {
  const JobOnSim sim = shared_on(GetParam());
  EXPECT_EQ(sim.text("shared.cached"), "no");
  EXPECT_LT(sim.number("shared.footprint_deviation_cycles"), 1);
  const std::vector<double> footprints = sim.vector("shared.footprint_bytes");
  const std::vector<double> latencies = sim.vector("shared.footprint_latency_cycles");
  ASSERT_EQ(footprints.size(), latencies.size());
  ASSERT_EQ(footprints.size(), sim.vector("shared.footprint_step_bytes").size());
  EXPECT_GE(footprints.back(),
            0.9 * static_cast<double>(sim.truth().device.shared_bytes_per_block));
  for (double latency : latencies) EXPECT_NEAR(latency, sim.number("shared.latency_cycles"), 1);
  if (GetParam() == std::string("gtx280")) {  // Wong 2010, section IV-F
    EXPECT_NEAR(sim.number("shared.latency_cycles"), 38, 0.5);
  }
}

INSTANTIATE_TEST_SUITE_P(Shipped, SharedFootprintSimTest, testing::Values("gtx280", "h200"),
                         [](const auto& model) { return std::string(model.param); });

/// Mei and Chu 2016, figures 15 and 16: throughput by active warps and ILP.
TEST(SharedMatrixSimTest, the_matrix_has_the_best_shapes_of_the_surface) {
  JobOnSim sim("gtx980", {"clock", "shared"});
  const auto surface = sim.vector("shared.surface_bytes_per_cycle");
  const auto matrix = sim.vector("shared.matrix_bytes_per_cycle");
  const auto warps = sim.vector("shared.matrix_warps");
  ASSERT_EQ(matrix.size(), warps.size());
  ASSERT_EQ(surface.size(), sim.vector("shared.surface_warps").size());
  EXPECT_LT(matrix.size(), surface.size());
  EXPECT_EQ(std::ranges::max(matrix), std::ranges::max(surface));
  EXPECT_EQ(warps.front(), 1);
  EXPECT_EQ(warps.back(), 64);                                // 1024 threads x 2 CTAs
  EXPECT_LT(matrix.front(), 0.2 * std::ranges::max(matrix));  // one warp, ILP 1
}

}  // namespace
}  // namespace sonde::test
