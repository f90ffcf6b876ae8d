// Partitions of memory from replicates that meet any mix of them.
#include "analysis/structure/latency/memory_replicates.hpp"

#include "base/random.hpp"

#include <gtest/gtest.h>

namespace sonde {
namespace {

using Samples = std::vector<std::vector<double>>;

/// Replicates of lines that are near with a chance of their own, on SMs that differ in distance.
Samples draw(double near_cycles, double far_cycles, double sm_cycles, std::uint64_t seed) {
  Random random(seed);
  Samples samples;
  for (int replicate = 0; replicate < 24; ++replicate) {
    const double sm = sm_cycles * (random.unit() - 0.5);
    const double near_share = 0.3 + 0.4 * random.unit();
    std::vector<double>& lines = samples.emplace_back();
    for (int line = 0; line < 200; ++line) {
      const double center = random.unit() < near_share ? near_cycles : far_cycles;
      lines.push_back(center + sm + 40 * (random.unit() - 0.5));
    }
  }
  return samples;
}

TEST(MemoryReplicatesTest, both_partitions_are_values_whatever_the_mix) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const MemorySummary memory = summarize_memory_replicates(draw(550, 750, 30, seed));
    ASSERT_TRUE(memory.partitions) << seed;
    EXPECT_NEAR(memory.partitions->near.center, 550, 6) << seed;
    EXPECT_NEAR(memory.partitions->far.center, 750, 6) << seed;
    EXPECT_NEAR(memory.all.center, 650, 6) << seed;
    EXPECT_LT(memory.all.reproducibility, 15) << seed;  // the mix alone would give 30
  }
}

TEST(MemoryReplicatesTest, one_group_is_one_value) {
  const MemorySummary memory = summarize_memory_replicates(draw(600, 600, 30, 1));
  EXPECT_FALSE(memory.partitions);
  EXPECT_NEAR(memory.all.center, 600, 6);
  EXPECT_TRUE(found_memory("latency.dram_cycles", memory).modes.empty());
}

}  // namespace
}  // namespace sonde
