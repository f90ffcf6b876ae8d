// The global.throughput job gives back what Mei and Chu 2016 measured (table VI), a declared H200,
// and a fault in the memory.
#include "sim/job_on_sim.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <fstream>
#include <string>

namespace sonde {
namespace {

using test::JobOnSim;

struct PaperRow {
  const char* model;
  double theoretical_bytes_per_s;
  double efficiency;
};

/// An H200 whose GPCs do not merge reads. @return the path of its file
std::string write_plain_h200() {
  const std::string path = testing::TempDir() + "plain_h200.json";
  for (const sim::ShippedModel& shipped : sim::shipped_models()) {
    if (shipped.name != "h200") continue;
    nlohmann::json model = nlohmann::json::parse(shipped.json);
    model["throughput"].erase("merges_reads_of_gpc");
    std::ofstream(path) << model;
  }
  return path;
}

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

TEST(GlobalThroughputLawSimTest, littles_law_finds_the_latency_of_the_memory) {
  JobOnSim sim("h200");
  sim.run("clock");
  sim.run("global.throughput", SuiteLevel::quick);

  EXPECT_GT(sim.number("global.littles_law_r2"), 0.9);
  // A warp waits for the last of its loads, so the law finds no less than one load takes: from 540
  // cycles at 1.98 GHz (a near partition, TLBs that hit) to 922.
  const double latency_ns = sim.number("global.littles_law_latency_ns");
  EXPECT_GT(latency_ns, 540 / 1.98);
  EXPECT_LT(latency_ns, 1.5 * 922 / 1.98);
  const auto surface = sim.vector("global.surface_bytes_per_s");
  EXPECT_LT(*std::min_element(surface.begin(), surface.end()),
            sim.number("global.read_bytes_per_s") / 4);
}

TEST(L2ThroughputSimTest, the_l2_is_faster_than_the_memory_and_no_faster_than_declared) {
  JobOnSim sim("h200");
  sim.run("clock");
  sim.run("global.throughput", SuiteLevel::quick);
  sim.run("l2.throughput", SuiteLevel::quick);

  const double declared = 5200 * 1.98e9;  // bytes per cycle of the model
  for (const char* metric : {"l2.read_bytes_per_s", "l2.write_bytes_per_s"}) {
    EXPECT_GT(sim.number(metric), 0.9 * declared) << metric;
    EXPECT_LT(sim.number(metric), 1.01 * declared) << metric;
  }
  EXPECT_GT(sim.number("l2.read_bytes_per_s"), 1.5 * sim.number("global.read_bytes_per_s"));
}

TEST(L2ThroughputSimTest, lines_that_all_want_come_faster_only_where_reads_are_merged) {
  JobOnSim merging("h200");
  JobOnSim plain(write_plain_h200());
  for (JobOnSim* sim : {&merging, &plain}) {
    sim->run("clock");
    sim->run("l2.throughput", SuiteLevel::quick);
  }
  EXPECT_GT(merging.number("l2.same_lines_bytes_per_s"),
            1.3 * merging.number("l2.read_bytes_per_s"));
  EXPECT_LT(plain.number("l2.same_lines_bytes_per_s"), 1.05 * plain.number("l2.read_bytes_per_s"));
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
