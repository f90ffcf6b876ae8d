#include "analysis/fleet/ballots.hpp"

#include <gtest/gtest.h>

namespace sonde {
namespace {

constexpr double tolerance = 0.03;

std::vector<Ballot> edges(const std::vector<Interval>& intervals) {
  std::vector<Ballot> ballots;
  for (const Interval& interval : intervals) {
    ballots.push_back({.device = ballots.size(), .text = "", .shown = "", .interval = interval});
  }
  return ballots;
}

Interval exactly(double value) { return {.low = value, .high = value}; }

TEST(BallotsTest, unique_plurality_is_the_reference) {
  const Quorum quorum = count_votes({{0, "a", "A"}, {1, "b", "B"}, {2, "a", "A"}, {3, "c", "C"}});

  EXPECT_EQ(quorum.text, "a");
  EXPECT_EQ(quorum.agreeing, 2u);
  EXPECT_FALSE(quorum.ambiguous);
}

TEST(BallotsTest, tie_is_ambiguous) {
  EXPECT_TRUE(count_votes({{0, "a", "A"}, {1, "b", "B"}, {2, "a", "A"}, {3, "b", "B"}}).ambiguous);
}

TEST(BallotsTest, exact_capacities_agree_if_they_are_equal) {
  EXPECT_TRUE(capacities_agree(exactly(2048), exactly(2048), tolerance));
  EXPECT_FALSE(capacities_agree(exactly(2048), exactly(2047), tolerance));
}

TEST(BallotsTest, gradual_capacities_agree_if_they_overlap_or_nearly_so) {
  EXPECT_TRUE(capacities_agree({57, 59}, {58, 60}, tolerance));
  EXPECT_TRUE(capacities_agree({57, 59}, exactly(58), tolerance));
  EXPECT_TRUE(capacities_agree({57, 59}, {60, 61}, tolerance));   // 1.7 % apart
  EXPECT_FALSE(capacities_agree({57, 59}, {62, 64}, tolerance));  // 4.9 % apart
  EXPECT_FALSE(capacities_agree({57, 59}, exactly(61), tolerance));
}

TEST(BallotsTest, exact_capacities_are_counted_like_votes) {
  const auto ballots = edges({exactly(128), exactly(192), exactly(192), exactly(256)});

  const Quorum quorum = count_capacities(ballots, tolerance);

  EXPECT_FALSE(quorum.ambiguous);
  EXPECT_EQ(quorum.agreeing, 2u);
  EXPECT_EQ(quorum.interval->low, 192);
  EXPECT_EQ(quorum.interval->high, 192);
  EXPECT_FALSE(agrees(ballots[0], quorum, tolerance));
  EXPECT_TRUE(agrees(ballots[1], quorum, tolerance));
}

TEST(BallotsTest, capacities_tie_like_votes) {
  EXPECT_TRUE(count_capacities(edges({exactly(128), exactly(192)}), tolerance).ambiguous);
  EXPECT_TRUE(count_capacities(edges({{57, 59}, {47, 49}}), tolerance).ambiguous);
  EXPECT_FALSE(count_capacities(edges({{57, 59}, {58, 61}}), tolerance).ambiguous);
}

TEST(BallotsTest, the_reference_is_typical_of_the_intervals_that_overlap_most) {
  const auto ballots = edges({{56, 58}, {57, 59}, {57, 60}, {40, 42}});

  const Quorum quorum = count_capacities(ballots, tolerance);

  EXPECT_EQ(quorum.agreeing, 3u);
  EXPECT_EQ(quorum.interval->low, 57);
  EXPECT_EQ(quorum.interval->high, 59);
  EXPECT_FALSE(agrees(ballots[3], quorum, tolerance));
}

TEST(BallotsTest, a_chain_of_overlaps_agrees_with_its_middle) {
  const Quorum quorum = count_capacities(edges({{10, 20}, {18, 40}, {38, 50}}), 0);

  EXPECT_FALSE(quorum.ambiguous);
  EXPECT_EQ(quorum.agreeing, 3u);
}

TEST(BallotsTest, one_wide_interval_does_not_make_all_agree) {
  const auto ballots = edges({exactly(192), exactly(192), exactly(192), exactly(128), {100, 200}});

  const Quorum quorum = count_capacities(ballots, tolerance);

  EXPECT_EQ(quorum.agreeing, 4u);
  EXPECT_FALSE(agrees(ballots[3], quorum, tolerance));
}

TEST(BallotsTest, absence_is_a_value_among_capacities) {
  std::vector<Ballot> ballots = edges({exactly(192), exactly(192)});
  ballots.push_back({.device = 2, .text = "not present", .shown = "not present"});

  const Quorum most = count_capacities(ballots, tolerance);
  EXPECT_EQ(most.agreeing, 2u);
  EXPECT_FALSE(agrees(ballots[2], most, tolerance));

  ballots.push_back({.device = 3, .text = "not present", .shown = "not present"});
  EXPECT_TRUE(count_capacities(ballots, tolerance).ambiguous);

  ballots.push_back({.device = 4, .text = "not present", .shown = "not present"});
  const Quorum absent = count_capacities(ballots, tolerance);
  EXPECT_EQ(absent.text, "not present");
  EXPECT_FALSE(agrees(ballots[0], absent, tolerance));
}

}  // namespace
}  // namespace sonde
