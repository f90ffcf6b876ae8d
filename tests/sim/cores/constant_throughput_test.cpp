// The job constant.throughput finds what the constant caches of simulated GPUs give, where more
// blocks bring no more, and who shares what limits them; it says so where it cannot.
#include "sim/job_on_sim.hpp"
#include "sim/shipped_json.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace sonde::test {
namespace {

using nlohmann::json;

/// What the jobs of the constant caches find on this model: the structure jobs have tests of their
/// own.
void assume_caches(JobOnSim& sim) {
  const auto& path = sim.truth().paths[static_cast<std::size_t>(LoadPath::constant)];
  const char* names[] = {"cache.constant_l1", "cache.constant_l2", "cache.constant_l3"};
  std::size_t level = 0;
  for (std::size_t use = 0; use < path->caches.size(); ++use) {
    const sim::CacheModel& cache = sim.truth().caches[path->caches[use]];
    if (cache.addressing == sim::Addressing::physical_address) break;
    const std::string name = names[level++];
    const auto size = static_cast<double>(cache.size_bytes(cache.geometries.front()));
    sim.assume(name + ".hit_latency_cycles", static_cast<double>(path->hit[use].front()));
    if (size >= static_cast<double>(constant_bank_bytes)) break;  // hides what lies behind it
    sim.assume(name + ".size_bytes", size);
    sim.assume(name + ".line_bytes", static_cast<double>(cache.line_bytes));
  }
}

JobOnSim streams_on(const std::string& model, std::uint64_t seed = 1) {
  JobOnSim sim(model, seed, {"clock", "topology"});
  assume_caches(sim);
  sim.run("constant.throughput");
  return sim;
}

double at_blocks(const JobOnSim& sim, const std::string& metric, double blocks) {
  const std::vector<double> counts = sim.vector("constant.blocks");
  const auto place = std::ranges::find(counts, blocks) - counts.begin();
  return sim.vector(metric).at(static_cast<std::size_t>(place));
}

/// Figure 19: 9.75 B/clk with 10 to 20 blocks, some 1.2 for one SM, whether one thread of a block
/// loads or eight. The port's 9.75 are declared; the rate of an SM and the knee are not.
TEST(ConstantThroughputSimTest, the_l3_of_the_gtx280_gives_what_the_paper_measured) {
  for (std::uint64_t seed : {1u, 2u}) {
    const JobOnSim sim = streams_on("gtx280", seed);

    EXPECT_NEAR(sim.number("constant.l3.bytes_per_cycle"), 9.75, 0.1) << seed;
    EXPECT_NEAR(sim.number("constant.l3.sm_bytes_per_cycle"), 1.2, 0.05) << seed;
    EXPECT_GE(sim.number("constant.l3.plateau_blocks"), 8) << seed;
    EXPECT_LE(sim.number("constant.l3.plateau_blocks"), 10) << seed;
    for (double blocks : {10.0, 12.0, 16.0, 20.0}) {
      EXPECT_NEAR(at_blocks(sim, "constant.l3.one_thread_bytes_per_cycle", blocks), 9.75, 0.1);
    }
    for (double blocks : {1.0, 2.0, 3.0, 4.0, 6.0}) {
      EXPECT_NEAR(at_blocks(sim, "constant.l3.eight_threads_bytes_per_cycle", blocks),
                  at_blocks(sim, "constant.l3.one_thread_bytes_per_cycle", blocks), 0.1 * blocks);
    }
    EXPECT_EQ(sim.text("constant.l3.bottleneck"), "gpc or device");  // no clusters: GPCs unknown
  }
}

/// "The eight-thread case is invalid beyond 20 blocks: the L2 of each TPC hides some requests".
TEST(ConstantThroughputSimTest, eight_threads_of_many_blocks_hide_requests_and_are_not_believed) {
  const JobOnSim sim = streams_on("gtx280");

  EXPECT_GT(at_blocks(sim, "constant.l3.eight_threads_bytes_per_cycle", 30), 12);
  EXPECT_EQ(sim.text("constant.l3.best_shape"), "1 warps x 1 threads");
}

/// "Beyond 30 blocks some SMs run several blocks, which causes load imbalance": 31 blocks must wait
/// for one SM, which then gets 1.2 B/clk for what is left; 60 blocks are even again.
TEST(ConstantThroughputSimTest, more_blocks_than_sms_are_uneven) {
  const JobOnSim sim = streams_on("gtx280");

  EXPECT_EQ(sim.vector("constant.uneven_blocks"), (std::vector<double>{31, 45, 60}));
  const std::vector<double> rates = sim.vector("constant.l3.uneven_bytes_per_cycle");
  ASSERT_EQ(rates.size(), 3u);
  EXPECT_NEAR(rates[0], 31 / (30 / 9.75 + 1 / 1.2), 0.8);  // 7.9
  EXPECT_GT(rates[1], rates[0]);
  EXPECT_NEAR(rates[2], 9.75, 0.1);
  // Each SM has an L1 of its own: whoever runs two blocks takes twice as long.
  const std::vector<double> first_level = sim.vector("constant.l1.uneven_bytes_per_cycle");
  const double of_all = at_blocks(sim, "constant.l1.one_thread_bytes_per_cycle", 30);
  EXPECT_NEAR(first_level[2], 2 * first_level[0] * 30 / 31, 0.05 * first_level[2]);
  EXPECT_GE(first_level[2], 0.97 * of_all);
}

TEST(ConstantThroughputSimTest, caches_of_an_sm_or_a_tpc_give_each_of_them_the_same) {
  const JobOnSim sim = streams_on("gtx280");

  // A word each four cycles; a line of 64 bytes in each 81.
  EXPECT_NEAR(sim.number("constant.l1.sm_bytes_per_cycle"), 1, 0.05);
  EXPECT_NEAR(sim.number("constant.l1.bytes_per_cycle"), 30, 1);
  EXPECT_NEAR(sim.number("constant.l2.sm_bytes_per_cycle"), 64.0 / 81, 0.02);
  EXPECT_EQ(sim.text("constant.l1.bottleneck"), "sm");
  EXPECT_EQ(sim.text("constant.l2.bottleneck"), "sm");
  EXPECT_EQ(sim.status("constant.l2.plateau_blocks"), Status::not_present);
}

/// The scope of a port shows in who holds up whom.
TEST(ConstantThroughputSimTest, the_bottleneck_is_the_group_that_shares_the_port) {
  for (const char* scope : {"sm", "tpc", "gpc", "device"}) {
    json model = json_of("h200");
    model["chip"] = {
        {"gpcs", 4},          {"tpcs_per_gpc", 3},          {"sms_per_tpc", 2},
        {"enabled_tpcs", 12}, {"numbering", "round_robin"}, {"cluster_order", "by_tpc"}};
    for (json& cache : model["caches"]) {
      cache.erase("tpc_cycles");
      if (cache["name"] == "constant_l2") cache["scope"] = scope;
    }
    // Of one SM 4 lines of 64 bytes in 104 cycles, 2.46 bytes per cycle; ports with less for each.
    model["constants"]["ports"] = {{{"cache", "constant_l2"}, {"bytes_per_cycle", 2.2}}};
    const JobOnSim sim = streams_on(write_model(model, std::string("port_of_") + scope));

    EXPECT_EQ(sim.text("constant.l2.bottleneck"), scope);
    EXPECT_NEAR(sim.number("constant.l2.sm_bytes_per_cycle"), 2.2, 0.1) << scope;
    if (std::string(scope) == "device") {
      EXPECT_NEAR(sim.number("constant.l2.bytes_per_cycle"), 2.2, 0.1);
    }
  }
}

TEST(ConstantThroughputSimTest, levels_that_nobody_knows_are_not_answered) {
  const JobOnSim sim = streams_on("h200");
  EXPECT_EQ(sim.status("constant.l1.bytes_per_cycle"), Status::ok);
  EXPECT_EQ(sim.status("constant.l2.bytes_per_cycle"), Status::ok);
  EXPECT_EQ(sim.status("constant.l3.bytes_per_cycle"), Status::not_resolvable);

  JobOnSim without_constants("gtx980");
  for (const char* job : {"clock", "cache.constant_l1", "constant.throughput"}) {
    without_constants.run(job);
  }
  EXPECT_NE(without_constants.status("constant.l1.bytes_per_cycle"), Status::ok);
  EXPECT_NE(without_constants.find("constant.l1.bytes_per_cycle").reason, "");

  json silent = json_of("gtx280");
  silent.erase("constants");
  const JobOnSim unknown = streams_on(write_model(silent, "silent_constants"));
  EXPECT_EQ(unknown.status("constant.l3.bytes_per_cycle"), Status::not_resolvable);
  EXPECT_EQ(unknown.status("constant.blocks"), Status::not_resolvable);
}

TEST(ConstantThroughputSimTest, wrong_data_end_a_level_not_the_job) {
  JobOnSim sim("gtx280+wrong_data=1");
  assume_caches(sim);
  sim.run("constant.throughput");

  EXPECT_EQ(sim.status("constant.l1.bytes_per_cycle"), Status::not_resolvable);
  EXPECT_NE(sim.find("constant.l1.bytes_per_cycle").reason.find("wrong data"), std::string::npos);
}

}  // namespace
}  // namespace sonde::test
