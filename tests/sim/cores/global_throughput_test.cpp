// The global.throughput job gives back what Mei and Chu 2016 measured (table VI), a declared H200,
// and a fault in the memory.
#include "sim/job_on_sim.hpp"
#include "sim/shipped_json.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <string>

namespace sonde::test {
namespace {

struct PaperThroughput {
  const char* model;
  double theoretical_bytes_per_s;
  double efficiency;
};

/// Another H200. @return the path of its file
template <class Change>
std::string write_h200(const std::string& name, const Change& change) {
  nlohmann::json model = json_of("h200");
  change(model);
  return write_model(model, name);
}

/// One whose GPCs do not merge reads.
std::string write_plain_h200() {
  return write_h200("plain_h200",
                    [](auto& model) { model["throughput"].erase("merges_reads_of_gpc"); });
}

class GlobalThroughputSimTest : public testing::TestWithParam<PaperThroughput> {};

TEST_P(GlobalThroughputSimTest, published_throughput_is_recovered) {
  const PaperThroughput& paper = GetParam();
  JobOnSim sim(paper.model, {"clock", "global.throughput"});

  EXPECT_NEAR(sim.number("global.theoretical_bytes_per_s"), paper.theoretical_bytes_per_s,
              paper.theoretical_bytes_per_s * 1e-3);
  const double copied = sim.number("global.copy_bytes_per_s");
  EXPECT_NEAR(copied / paper.theoretical_bytes_per_s, paper.efficiency, 0.024);
  EXPECT_LE(sim.number("global.efficiency"), 1);
  for (const char* metric : {"global.bulk_read_bytes_per_s", "global.bulk_copy_bytes_per_s"}) {
    EXPECT_EQ(sim.status(metric), Status::not_resolvable) << "no copy engine before sm_90";
  }
}

INSTANTIATE_TEST_SUITE_P(MeiAndChu2016, GlobalThroughputSimTest,
                         testing::Values(PaperThroughput{"gtx560ti", 134.40e9, 0.8138},
                                         PaperThroughput{"gtx780", 288.38e9, 0.7487},
                                         PaperThroughput{"gtx980", 224.38e9, 0.6964}),
                         [](const auto& row) { return row.param.model; });

TEST(GlobalThroughputLawSimTest, littles_law_finds_the_latency_of_the_memory) {
  JobOnSim sim("h200", {"clock", "global.throughput"}, SuiteLevel::quick);

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

TEST(GlobalThroughputWaysSimTest, a_standard_suite_has_surfaces_hints_engine_and_latencies) {
  JobOnSim sim("h200", {"clock", "global.throughput"});

  const double theory = sim.number("global.theoretical_bytes_per_s");
  for (const std::string prefix : {"", "write_", "copy_"}) {
    const auto rates = sim.vector("global." + prefix + "surface_bytes_per_s");
    for (const char* axis : {"block_threads", "blocks", "ilp"}) {
      EXPECT_EQ(sim.vector("global." + prefix + "surface_" + axis).size(), rates.size());
    }
    const std::string kind = prefix.empty() ? "read_" : prefix;
    EXPECT_NEAR(*std::max_element(rates.begin(), rates.end()),
                sim.number("global." + kind + "bytes_per_s"), 0.06 * theory);
    const auto series = sim.vector("global." + kind + "by_element_bytes_per_s");
    ASSERT_EQ(series.size(), sim.vector("global.element_bytes").size());
    EXPECT_NEAR(series.back(), sim.number("global." + kind + "bytes_per_s"), 0.01 * theory);
  }
  for (const char* way : {"read_no_allocate", "read_evict_first", "write_evict_first",
                          "write_write_through", "bulk_read", "read"}) {
    EXPECT_NEAR(sim.number(std::string("global.") + way + "_bytes_per_s") / theory, 0.94, 0.03)
        << way << ": the memory is what holds it up";
  }
  EXPECT_NEAR(sim.number("global.bulk_copy_bytes_per_s"), sim.number("global.copy_bytes_per_s"),
              0.05 * theory);

  const double light_ns = sim.number("global.light_latency_ns");
  EXPECT_GT(light_ns, 540 / 1.98);
  EXPECT_LT(light_ns, 922 / 1.98);
  EXPECT_GT(sim.number("global.littles_law_latency_ns"), 0.97 * light_ns);
  EXPECT_LT(sim.number("global.littles_law_latency_ns"), 1.3 * light_ns);
  EXPECT_GT(sim.number("global.loaded_latency_ns"), light_ns);
  EXPECT_GT(sim.number("global.loaded_bytes_in_flight"),
            0.95 * sim.number("global.littles_law_bytes_in_flight"));
}

TEST(L2ThroughputSimTest, the_l2_is_faster_than_the_memory_and_no_faster_than_declared) {
  JobOnSim sim("h200", {"clock", "global.throughput", "l2.throughput"}, SuiteLevel::quick);

  const double declared = 5200 * 1.98e9;  // bytes per cycle of the model
  for (const char* metric : {"l2.read_bytes_per_s", "l2.write_bytes_per_s"}) {
    EXPECT_GT(sim.number(metric), 0.9 * declared) << metric;
    EXPECT_LT(sim.number(metric), 1.01 * declared) << metric;
  }
  EXPECT_GT(sim.number("l2.read_bytes_per_s"), 1.5 * sim.number("global.read_bytes_per_s"));
  // Those of a warp every 2 cycles; of all lines as many bytes as the L2 gives.
  EXPECT_NEAR(sim.number("l2.same_line_atomics_per_s"), 32 / 2.0 * 1.98e9, 0.05 * 16 * 1.98e9);
  EXPECT_NEAR(sim.number("l2.atomics_per_s"), 5200 / 4.0 * 1.98e9, 0.1 * 1300 * 1.98e9);
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

TEST(L2ThroughputSimTest, far_lines_are_slower_only_where_no_copies_are_near) {
  JobOnSim copies("h200");
  JobOnSim crossing(write_h200("crossing_h200", [](auto& model) {
    model["partitions"]["replicate"] = false;
    model["partitions"]["crossing_bytes_per_cycle"] = 1000;
  }));
  for (JobOnSim* sim : {&copies, &crossing}) {
    sim->run("clock");
    sim->run("l2.throughput");
    EXPECT_GT(sim->number("l2.near_bytes_per_s"), 0.85 * 5200 * 1.98e9);
  }
  EXPECT_NEAR(copies.number("l2.far_bytes_per_s") / copies.number("l2.near_bytes_per_s"), 1, 0.03);
  EXPECT_NEAR(crossing.number("l2.far_bytes_per_s"), 2000 * 1.98e9, 0.05 * 2000 * 1.98e9);
  EXPECT_NEAR(crossing.number("l2.far_atomics_per_s"), 500 * 1.98e9, 0.05 * 500 * 1.98e9);
  EXPECT_NEAR(crossing.number("l2.near_atomics_per_s") / crossing.number("l2.atomics_per_s"), 1,
              0.03);
  // Half of the lines cross, and those of the partition with more SMs take longer.
  EXPECT_LT(crossing.number("l2.both_bytes_per_s"), 4000 * 1.98e9);
  EXPECT_GT(crossing.number("l2.both_bytes_per_s"), 0.9 * 4000 * 1.98e9);
}

TEST(L2ThroughputSimTest, an_l2_of_one_piece_has_no_sides) {
  JobOnSim sim(write_h200("whole_h200", [](auto& model) {
    auto& atomics = model["paths"]["atomic"]["latency_cycles"];
    atomics["far"] = atomics["l2"];
    model["slices"].erase("sides");  // of the chip: near and far slices of one partition
  }));
  sim.run("clock");
  sim.run("l2.throughput");

  for (const char* metric : {"l2.near_bytes_per_s", "l2.far_bytes_per_s", "l2.both_bytes_per_s"}) {
    EXPECT_EQ(sim.status(metric), Status::not_present) << sim.find(metric).reason;
  }
}

TEST(L2ThroughputSimTest, a_gpu_without_atomics_does_not_say_where_lines_are) {
  JobOnSim sim("gtx980");  // nobody declared its atomics
  sim.run("clock");
  sim.run("l2.throughput");

  EXPECT_EQ(sim.status("l2.near_bytes_per_s"), Status::not_resolvable);
  EXPECT_NE(sim.find("l2.near_bytes_per_s").reason.find("atomic"), std::string::npos);
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
}  // namespace sonde::test
