// The parts of an SM that plays programs, each by itself.
#include "device/sim/program/bypass_generator.hpp"
#include "device/sim/program/kernel_work.hpp"
#include "device/sim/program/l1_tags.hpp"
#include "device/sim/program/memory_side.hpp"
#include "device/sim/program/warp_schedulers.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <map>

namespace sonde::sim {
namespace {

using ::testing::ElementsAre;

/// Slots that scheduler 0 takes when all can always issue.
std::vector<std::size_t> order(WarpScheduler rule, std::size_t warps, int issues) {
  WarpSchedulers schedulers(rule, 1, warps, 0);
  for (std::size_t slot = 0; slot < warps; ++slot) {
    schedulers.set_youngest(slot);
    schedulers.set_next(slot, 0, true);
  }
  std::vector<std::size_t> slots;
  for (int i = 0; i < issues; ++i) {
    slots.push_back(*schedulers.choose(0, i, false));
    schedulers.occupy(0, slots.back(), i + 1);
    schedulers.set_next(slots.back(), i + 1, true);
  }
  return slots;
}

TEST(WarpSchedulersTest, each_rule_has_an_order_of_its_own) {
  EXPECT_THAT(order(WarpScheduler::greedy_then_oldest, 4, 3), ElementsAre(0, 0, 0));
  EXPECT_THAT(order(WarpScheduler::round_robin, 3, 5), ElementsAre(0, 1, 2, 0, 1));
  const auto groups = order(WarpScheduler::two_level, 10, 10);
  EXPECT_EQ(groups[7], 7u);
  EXPECT_EQ(groups[8], 0u) << "a group of eight goes on while it can";
}

TEST(WarpSchedulersTest, two_levels_change_the_group_when_all_of_it_waits) {
  WarpSchedulers schedulers(WarpScheduler::two_level, 1, 16, 0);
  for (std::size_t slot = 0; slot < 16; ++slot) schedulers.set_next(slot, 0, true);
  schedulers.occupy(0, 3, 0);
  for (std::size_t slot = 0; slot < 8; ++slot) schedulers.set_waiting(slot);
  EXPECT_EQ(schedulers.choose(0, 0, false), 8u);
  schedulers.set_next(5, 1, true);
  EXPECT_EQ(schedulers.choose(0, 1, false), 5u);
}

TEST(WarpSchedulersTest, greedy_goes_on_with_the_oldest_that_can) {
  WarpSchedulers schedulers(WarpScheduler::greedy_then_oldest, 2, 6, 0);
  for (std::size_t slot : {4, 2, 0}) {
    schedulers.set_youngest(slot);
    schedulers.set_next(slot, slot == 4 ? 10 : 0, true);
  }
  EXPECT_EQ(schedulers.choose(0, 0, false), 4u - 2u);
  EXPECT_EQ(schedulers.choose(1, 0, false), std::nullopt) << "even slots are not its own";
  EXPECT_EQ(schedulers.choose(0, 10, true), std::nullopt) << "the load-store unit is full";
  EXPECT_EQ(schedulers.choose(0, 10, false), 4u);
  EXPECT_EQ(schedulers.next_time(true), std::numeric_limits<double>::infinity());
}

DeclaredIndex by_line() {
  DeclaredIndex index;
  index.kind = DeclaredIndex::Kind::modulo;
  index.granularity_bytes = 128;
  return index;
}

L1Model small_l1(std::uint32_t sets, std::uint32_t ways) {
  return {.sets = sets, .ways = ways, .set_of = {.index = SetIndex(by_line(), sets)}};
}

L1Outcome load(L1Tags& l1, std::uint64_t line, double time, double latency, bool keep = true) {
  const LineAccess access{.line = line, .sectors = 1};
  const L1Answer answer = l1.look_up(access, time);
  if (answer.outcome == L1Outcome::miss) l1.reserve(access, answer, time + latency, keep);
  return answer.outcome;
}

TEST(L1TagsTest, lines_on_their_way_keep_their_place) {
  L1Tags l1(small_l1(1, 2));
  EXPECT_EQ(load(l1, 1, 0, 100), L1Outcome::miss);
  EXPECT_EQ(load(l1, 2, 1, 100), L1Outcome::miss);
  EXPECT_EQ(load(l1, 3, 2, 100), L1Outcome::stalled);
  EXPECT_EQ(l1.look_up({.line = 3, .sectors = 1}, 2).time, 100) << "the first that comes";
  EXPECT_EQ(load(l1, 2, 3, 100), L1Outcome::merged);
  EXPECT_EQ(load(l1, 2, 101, 100), L1Outcome::hit);
  EXPECT_EQ(load(l1, 3, 102, 100), L1Outcome::miss) << "in the place of 1, used longest ago";
  EXPECT_EQ(load(l1, 2, 103, 100), L1Outcome::hit);
}

TEST(L1TagsTest, what_is_not_to_be_kept_leaves_first) {
  L1Tags l1(small_l1(1, 2));
  load(l1, 1, 0, 0);
  load(l1, 2, 1, 0, false);
  load(l1, 3, 2, 0);
  EXPECT_EQ(load(l1, 1, 3, 0), L1Outcome::hit);
}

TEST(L1TagsTest, sectors_of_a_line_miss_one_by_one) {
  L1Model model = small_l1(1, 1);
  model.fetch_bytes = 32;
  L1Tags l1(model);
  const L1Answer miss = l1.look_up({.line = 1, .sectors = 0b0001}, 0);
  EXPECT_EQ(miss.fetched, 0b0001u);
  l1.reserve({.line = 1, .sectors = 0b0001}, miss, 10, true);
  EXPECT_EQ(l1.look_up({.line = 1, .sectors = 0b0011}, 20).fetched, 0b0010u);
}

TEST(MemorySideTest, an_unloaded_load_takes_what_the_model_says) {
  MemorySide memory({.l2_sets = 4, .l2_ways = 2, .l2_cycles = 200, .dram_cycles = 400}, 1);
  EXPECT_DOUBLE_EQ(memory.load(0, 10, 5, 0b1111), 410);
  EXPECT_DOUBLE_EQ(memory.load(0, 1000, 5, 0b1111), 1200);
  EXPECT_EQ(memory.counts(0).l2_requests, 2u);
  EXPECT_EQ(memory.counts(0).dram_requests, 1u);
}

TEST(MemorySideTest, what_leaves_the_l2_changed_is_written_back) {
  const MemorySideModel model{.l2_sets = 1, .l2_ways = 1, .channel_bytes_per_cycle = 1};
  MemorySide clean(model, 1);
  clean.load(0, 0, 1, 0b1111);
  MemorySide dirty(model, 1);
  dirty.store(0, 0, 1, 0b1111);
  const double after_clean = clean.load(0, 1000, 2, 0b1111);
  EXPECT_DOUBLE_EQ(dirty.load(0, 1000, 2, 0b1111), after_clean + 128);
}

TEST(MemorySideTest, a_partition_without_mshrs_holds_up_its_queue_and_the_sm) {
  MemorySideModel model{.l2_sets = 64, .l2_ways = 16, .channel_bytes_per_cycle = 128};
  model.dram_cycles = 400;
  model.l2_mshrs = 1;
  model.l2_queue_entries = 2;
  MemorySide memory(model, 2);
  EXPECT_DOUBLE_EQ(memory.load(0, 0, 1, 1), 400);
  EXPECT_DOUBLE_EQ(memory.load(0, 1, 2, 1), 800) << "waits for the MSHR";
  EXPECT_LT(memory.free_time(0), 10);
  memory.load(0, 2, 3, 1);
  memory.load(0, 3, 4, 1);
  EXPECT_GE(memory.free_time(0), 400) << "no room in the queue";
}

TEST(MemorySideTest, requests_to_an_open_row_need_not_wait_for_another) {
  MemorySideModel model{.l2_sets = 1 << 12, .l2_ways = 16, .channel_bytes_per_cycle = 128};
  model.row_bytes = 1024;
  model.banks = 1;
  model.row_cycles = 60;
  model.dram_cycles = 400;
  MemorySide memory(model, 1);
  EXPECT_DOUBLE_EQ(memory.load(0, 0, 0, 1), 400);
  EXPECT_DOUBLE_EQ(memory.load(0, 10, 8, 1), 460) << "another row of the bank";
  EXPECT_NEAR(memory.load(0, 20, 1, 1), 420, 1) << "the first row is still open";
  EXPECT_NEAR(memory.load(0, 21, 9, 1), 460, 1) << "opened with the one before";
  EXPECT_DOUBLE_EQ(memory.load(0, 100, 2, 1), 520) << "the first row is closed by now";
}

TEST(BypassGeneratorTest, failures_weigh_against_hits) {
  const auto choose = [](double e) {
    BypassGenerator generator({.e = e, .period_accesses = 1024}, 8, 32, 4,
                              {.index = SetIndex(by_line(), 32)});
    // All units hit, and every access takes a failure.
    for (std::uint64_t i = 0; i < 1024; ++i) generator.access(static_cast<int>(i % 8), 0, i);
    return generator.cached();
  };
  EXPECT_EQ(choose(0.1), 8);
  // Hits are 1024 for each unit: 1024 L - 16 x 1023 (L / 8)^3 is largest at 3.
  EXPECT_EQ(choose(16), 3);
}

TEST(BypassGeneratorTest, failures_count_as_they_come_however_many_units_use_the_l1) {
  BypassGenerator generator({.e = 16, .period_accesses = 1024}, 8, 32, 4,
                            {.index = SetIndex(by_line(), 32)});
  std::uint64_t failures = 0;
  for (std::uint64_t i = 0; i < 1024; ++i) generator.access(static_cast<int>(i % 8), 0, ++failures);
  EXPECT_EQ(generator.cached(), 3);
  // One failure in ten accesses is little for all units; scaled to them from three it were much.
  for (std::uint64_t i = 0; i < 16 * 1024; ++i) {
    failures += i % 10 == 0 ? 1 : 0;
    generator.access(static_cast<int>(i % 8), 0, failures);
  }
  EXPECT_EQ(generator.cached(), 8);
}

AccessProgram mixed_program() {
  ProgramKernel kernel{.grid_x = 3, .grid_y = 2, .block_x = 48, .block_y = 2};
  kernel.outer = {.first = 2};
  kernel.inner = {.first = 3, .per_warp = 1};
  kernel.body = {{.array = 0, .first = 3, .per_block_x = 96, .per_thread_x = 1, .per_inner = 7},
                 {.pass = AccessPass::first, .array = 1, .per_thread_x = 5, .per_thread_y = 3},
                 {.array = 1, .per_block_y = 9, .per_thread_x = 100, .per_outer = 2},
                 {.array = 0, .drawn_elements = 900, .drawn_threads = 3},
                 {.array = 1, .per_thread_x = 0, .per_inner = 1},
                 {.array = 1, .per_thread_x = 8, .per_inner = 1},
                 {.store = true, .pass = AccessPass::last, .array = 0, .per_thread_y = 2}};
  return {.name = "mix", .array_elements = {4096, 8192}, .kernels = {kernel}, .seed = 5};
}

TEST(PlacedProgramTest, lines_cover_the_elements_of_an_access_each_once) {
  const AccessProgram program = mixed_program();
  const ProgramKernel& kernel = program.kernels[0];
  const PlacedProgram placed{.program = program,
                             .kernel = kernel,
                             .array_addresses = {1 << 20, 1 << 21},
                             .line_bytes = 128};
  ProgramCursor cursor(program, kernel, {.block_x = 2, .block_y = 1, .warp = 1});
  for (; !cursor.at_end(); cursor.advance()) {
    std::uint64_t elements[32];
    cursor.elements(elements);
    std::map<std::uint64_t, Sectors> expected;
    for (std::uint64_t element : elements) {
      const std::uint64_t address = placed.array_addresses[cursor.access().array] + element * 4;
      expected[address / 128] |= 1u << address % 128 / 32;
    }
    AccessLines lines;
    placed.find_lines(cursor, lines);
    std::map<std::uint64_t, Sectors> found;
    for (std::uint32_t at = 0; at < lines.count; ++at) {
      found[lines.lines[at].line] |= lines.lines[at].sectors;
    }
    ASSERT_EQ(found, expected);
    ASSERT_EQ(lines.count, expected.size());
  }
}

}  // namespace
}  // namespace sonde::sim
