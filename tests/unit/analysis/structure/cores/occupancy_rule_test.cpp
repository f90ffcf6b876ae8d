#include "analysis/structure/cores/occupancy_rule.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace sonde {
namespace {

/// Blocks put on an SM one by one, warp by warp: not the formula of the inference.
int place_blocks(const OccupancyRule& rule, int registers_per_thread, int block_threads) {
  const auto up = [](int value, int step) { return (value + step - 1) / step * step; };
  const int registers = up(registers_per_thread, rule.register_unit);
  int threads = up(block_threads, rule.thread_quantum);
  std::vector<int> room(static_cast<std::size_t>(rule.parts), rule.registers_per_sm / rule.parts);
  int slots = rule.most_threads;
  for (int blocks = 0; blocks < rule.most_blocks; ++blocks) {
    slots -= up(block_threads, 32);
    if (slots < 0) return blocks;
    for (int left = threads; left > 0; left -= 32) {
      int& part = *std::ranges::max_element(room);
      part -= registers * (rule.parts > 1 ? 32 : std::min(left, 32));
      if (part < 0) return blocks;
    }
  }
  return rule.most_blocks;
}

std::vector<HeldBlocks> observe(const OccupancyRule& rule, const std::vector<int>& counts) {
  std::vector<HeldBlocks> held;
  for (int registers : counts) {
    for (int threads : {64, 256}) {
      held.push_back({registers, threads, place_blocks(rule, registers, threads)});
    }
  }
  for (int registers : {32, 48, 62}) {
    for (int threads = 16; threads <= 1024; threads += 16) {
      held.push_back({registers, threads, place_blocks(rule, registers, threads)});
    }
  }
  return held;
}

/// Those of the kernels that nvcc 13.0 made for sm_90.
TEST(OccupancyRuleTest, numbers_of_registers_with_gaps_suffice) {
  const OccupancyRule rule{65536, 8, 32, 4, 32, 2048};
  const std::vector<HeldBlocks> held =
      observe(rule, {22,  24,  26,  28,  30,  32,  38,  40,  42,  44,  46,  48,  50,  52, 54,  56,
                     58,  60,  62,  68,  70,  74,  78,  80,  83,  86,  88,  90,  96,  98, 100, 102,
                     104, 114, 126, 128, 147, 161, 163, 169, 171, 187, 207, 227, 243, 253});
  const FoundRule found = find_occupancy_rule(held);
  EXPECT_EQ(found.registers_per_sm, rule.registers_per_sm);
  EXPECT_EQ(found.register_unit, rule.register_unit);
  EXPECT_EQ(found.thread_quantum, rule.thread_quantum);
  EXPECT_EQ(most_blocks(held), rule.most_blocks);
  EXPECT_EQ(most_threads(held), rule.most_threads);
}

TEST(OccupancyRuleTest, observations_that_no_rule_explains_give_none) {
  const FoundRule found =
      find_occupancy_rule(std::vector<HeldBlocks>{{32, 256, 8}, {33, 256, 3}, {34, 256, 7}});
  EXPECT_EQ(found.rules, 0u);
  EXPECT_EQ(found.registers_per_sm, std::nullopt);
}

TEST(OccupancyRuleTest, few_observations_leave_open_what_they_do_not_show) {
  const FoundRule found = find_occupancy_rule(std::vector<HeldBlocks>{{32, 256, 8}});
  EXPECT_GT(found.rules, 1u);
  EXPECT_EQ(found.register_unit, std::nullopt);
  EXPECT_EQ(found.thread_quantum, std::nullopt);
}

}  // namespace
}  // namespace sonde
