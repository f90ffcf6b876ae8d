// The job registers finds the declared rule by which an SM takes blocks, and what Wong 2010 found
// on the GT200.
#include "sim/job_on_sim.hpp"
#include "sim/shipped_json.hpp"

#include <gtest/gtest.h>

namespace sonde::test {
namespace {

class RegistersSimTest : public testing::TestWithParam<const char*> {};

TEST_P(RegistersSimTest, declared_rule_comes_back) {
  const JobOnSim sim(GetParam(), {"registers"});
  const sim::OccupancyModel& declared = *sim.truth().units.occupancy;
  const DeviceInfo& info = sim.truth().device;

  EXPECT_EQ(sim.number("registers.per_sm"), declared.registers_per_sm);
  EXPECT_EQ(sim.number("registers.max_per_thread"), declared.max_registers_per_thread);
  EXPECT_EQ(sim.number("registers.allocation_unit"), declared.register_unit);
  EXPECT_EQ(sim.number("registers.thread_quantum"), declared.thread_quantum);
  EXPECT_EQ(sim.number("registers.max_blocks_per_sm"),
            sim.truth().units.throughput.max_blocks_per_sm);
  EXPECT_EQ(sim.number("registers.max_warps_per_sm"), info.max_threads_per_sm / 32);
  const double half_bytes = static_cast<double>(info.shared_bytes_per_sm) / 2 -
                            static_cast<double>(info.reserved_shared_bytes_per_block);
  EXPECT_EQ(sim.number("registers.two_blocks_shared_bytes"),
            std::min(half_bytes, static_cast<double>(info.shared_bytes_per_block)));
}

INSTANTIATE_TEST_SUITE_P(Shipped, RegistersSimTest, testing::ValuesIn(shipped_models),
                         [](const auto& model) { return std::string(model.param); });

/// Wong 2010, section IV-E and figure 9.
TEST(RegistersWongTest, gt200) {
  const JobOnSim sim("gtx280", {"registers"});

  EXPECT_EQ(sim.number("registers.per_sm"), 16384);
  EXPECT_EQ(sim.number("registers.allocation_unit"), 4);
  EXPECT_EQ(sim.number("registers.max_per_thread"), 128);
  EXPECT_EQ(sim.number("registers.thread_quantum"), 64);
  const std::vector<double> threads = sim.vector("registers.block_threads");
  const std::vector<double> blocks = sim.vector("registers.resident_blocks");
  ASSERT_EQ(threads.size(), blocks.size());
  for (std::size_t i = 0; i < threads.size(); ++i) {
    // 64 registers: 256 threads fill the file.
    if (threads[i] > 256) {
      EXPECT_EQ(blocks[i], 0) << threads[i];
    } else if (threads[i] > 128) {
      EXPECT_EQ(blocks[i], 1) << threads[i];
    }
  }
}

}  // namespace
}  // namespace sonde::test
