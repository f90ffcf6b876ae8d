#include "jobs/tlb/access_pairs.hpp"

#include "base/error.hpp"
#include "device/layout/chain.hpp"
#include "jobs/chase/access_order.hpp"

#include <gtest/gtest.h>

namespace sonde {
namespace {

bool makes_a_chain(const Offsets& offsets) {
  return layout::plan_chains({{.sm = 0, .offsets_bytes = offsets}}).has_value();
}

TEST(AccessPairsTest, pairs_of_blocks_go_both_ways_and_single_accesses_one) {
  const Offsets offsets{512 + 40, 1024 + 80, 1024 + 80, 2048};

  EXPECT_EQ(place_second_accesses(offsets, SecondAccess::next_block, Turn::as_listed),
            (Offsets{512, 1024, 1024 + 256, 2048}));
  EXPECT_EQ(place_second_accesses(offsets, SecondAccess::next_block, Turn::swapped),
            (Offsets{512, 1024 + 256, 1024, 2048}));
  EXPECT_EQ(place_second_accesses(offsets, SecondAccess::same_line, Turn::as_listed), offsets);
}

TEST(AccessPairsTest, single_accesses_to_a_block_find_words_for_a_chain) {
  Offsets offsets;
  for (std::uint64_t i = 0; i < 64; ++i) offsets.push_back(512 + i % 16 * 32);

  const Offsets placed = place_second_accesses(offsets, SecondAccess::next_block, Turn::as_listed);

  EXPECT_TRUE(makes_a_chain(placed));
  for (std::uint64_t offset : placed) EXPECT_EQ(offset / 512, 1u);
}

TEST(AccessPairsTest, passes_from_the_memory_find_words_for_a_chain) {
  const Offsets pairs = page_pairs({4096, 32, 4096}, 0, 8);

  const Offsets passes = passes_over_new_lines(
      pairs, {.part_bytes = 4096, .settling = most_passes_to_settle, .timed = 3});

  EXPECT_TRUE(makes_a_chain(passes));
  EXPECT_THROW(
      passes_over_new_lines(pairs, {.part_bytes = 4096, .settling = most_passes_to_settle + 1}),
      Error);
}

}  // namespace
}  // namespace sonde
