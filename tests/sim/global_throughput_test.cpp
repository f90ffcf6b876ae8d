// The global.throughput job gives back what Mei and Chu 2016 measured (table VI), a declared H200,
// and a fault in the memory.
#include "sim/job_on_sim.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace sonde {
namespace {

using test::JobOnSim;

struct PaperRow {
  const char* model;
  double theoretical_bytes_per_s;
  double efficiency;
};

class GlobalThroughputSimTest : public testing::TestWithParam<PaperRow> {};

TEST_P(GlobalThroughputSimTest, published_throughput_is_recovered) {
  const PaperRow& paper = GetParam();
  JobOnSim sim(paper.model);
  sim.run("clock");
  sim.run("global.throughput");

  EXPECT_NEAR(sim.number("global.theoretical_bytes_per_s"), paper.theoretical_bytes_per_s,
              paper.theoretical_bytes_per_s * 1e-3);
  const double copied = sim.number("global.copy_bytes_per_s");
  EXPECT_NEAR(copied / paper.theoretical_bytes_per_s, paper.efficiency, 0.05);
  EXPECT_LE(sim.number("global.efficiency"), 1);
}

INSTANTIATE_TEST_SUITE_P(MeiAndChu2016, GlobalThroughputSimTest,
                         testing::Values(PaperRow{"gtx560ti", 134.40e9, 0.8138},
                                         PaperRow{"gtx780", 288.38e9, 0.7487},
                                         PaperRow{"gtx980", 224.38e9, 0.6964}),
                         [](const auto& row) { return row.param.model; });

TEST(GlobalThroughputLawSimTest, littles_law_holds_on_an_h200) {
  JobOnSim sim("h200");
  sim.run("clock");
  sim.run("global.throughput", SuiteLevel::quick);

  EXPECT_GT(sim.number("global.littles_law_r2"), 0.9);
  const double read = sim.number("global.read_bytes_per_s");
  EXPECT_NEAR(sim.number("global.littles_law_bytes_in_flight"),
              read * sim.number("global.littles_law_latency_ns") * 1e-9, 0.1 * read);
  EXPECT_GT(sim.number("l2.read_bytes_per_s"), read);
  const auto surface = sim.vector("global.surface_bytes_per_s");
  EXPECT_LT(*std::min_element(surface.begin(), surface.end()), read / 4);
}

TEST(GlobalThroughputLawSimTest, weak_memory_is_seen) {
  JobOnSim sound("h200");
  JobOnSim weak("h200+low_bandwidth=0.8");
  for (JobOnSim* sim : {&sound, &weak}) {
    sim->run("clock");
    sim->run("global.throughput", SuiteLevel::quick);
  }
  for (const char* metric : {"global.read_bytes_per_s", "global.write_bytes_per_s"}) {
    EXPECT_NEAR(weak.number(metric) / sound.number(metric), 0.8, 0.03) << metric;
  }
}

}  // namespace
}  // namespace sonde
