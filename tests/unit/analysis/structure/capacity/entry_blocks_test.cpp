// Entries from shares of blocks that miss.
#include "analysis/structure/capacity/miss_blocks.hpp"

#include <gtest/gtest.h>

namespace sonde {
namespace {

TEST(EntryBlocksTest, entries_end_where_blocks_fit) {
  EXPECT_EQ(doublings_to_entry({1, 0}), 0U);
  EXPECT_EQ(doublings_to_entry({0.9, 1, 0.95, 0}), 2U);
}

TEST(EntryBlocksTest, sets_overfilled_by_chance_are_no_entries) {
  EXPECT_EQ(doublings_to_entry({1, 0.3, 0}), 0U);
  EXPECT_EQ(doublings_to_entry({1, 0.4, 0}), 0U);  // nine in two sets of six, in eight draws
  EXPECT_EQ(doublings_to_entry({0.98, 1, 0.02, 0.05, 0.03, 0.07}), 1U);
}

/// Pages of an entry that is thrown out at once miss more often than entries do.
TEST(EntryBlocksTest, fewer_misses_that_stay_are_those_of_entries) {
  EXPECT_EQ(doublings_to_entry({1, 0.73, 0.36, 0.35, 0}), 3U);
}

/// Half of the entries in a set of 54 that draws its victims miss, and four fifths of their pages.
TEST(EntryBlocksTest, entries_lost_at_random_are_more_than_chance_overfills) {
  EXPECT_EQ(doublings_to_entry({0.81, 0.45, 0}), 1U);
  EXPECT_EQ(doublings_to_entry({0.99, 0.82, 0.34, 0}), 2U);
  EXPECT_EQ(doublings_to_entry({1, 1, 0.98, 0.52, 0}), 3U);  // unequal shares of the ways
}

/// Eight pages of an entry, each filled apart and all lost with it: as large as one of them, by a
/// third of twice as large blocks that miss, until a tenth of the next did, too.
TEST(EntryBlocksTest, parts_of_entries_lost_at_random_are_not_taken_for_entries) {
  EXPECT_FALSE(doublings_to_entry({0.985, 0.329, 0.110, 0.034, 0}));
}

TEST(EntryBlocksTest, without_misses_a_unit_is_all_that_is_known) {
  EXPECT_EQ(doublings_to_entry({0}), 0U);
  EXPECT_EQ(doublings_to_entry({}), 0U);
}

}  // namespace
}  // namespace sonde
