// Victims traced by hand, and what the statistics make of them.
#include "analysis/structure/replacement/cyclic_victims.hpp"

#include "base/error.hpp"
#include "base/random.hpp"
#include "unit/analysis/structure/toy_set.hpp"

#include <gtest/gtest.h>

namespace sonde {
namespace {

AccessRecord cyclic_record(std::uint32_t ways, const std::vector<bool>& missed) {
  return {cyclic_trace(ways, missed.size()), missed};
}

TEST(CyclicVictimsTest, follows_who_took_whose_way) {
  // 3 ways: line 3 pushes out line 1; 1 pushes out 2; 2 pushes out 1, which is in 2's way.
  const AccessRecord record = cyclic_record(3, {1, 1, 1, 1, 0, 1, 1, 0, 0, 1});

  const auto victims = trace_victims(3, {record});

  ASSERT_EQ(victims.size(), 3U);
  EXPECT_EQ(victims[0].way, 1U);
  EXPECT_EQ(victims[0].recency_rank, 2U);
  EXPECT_FALSE(victims[0].previous_way.has_value());
  EXPECT_EQ(victims[1].way, 2U);
  EXPECT_EQ(victims[1].recency_rank, 3U);
  EXPECT_EQ(victims[1].previous_way, 1U);
  EXPECT_EQ(victims[2].way, 2U);
  EXPECT_EQ(victims[2].recency_rank, 1U);
}

TEST(CyclicVictimsTest, stops_where_a_record_contradicts_itself) {
  // Nothing missed for a whole round, though a line must be absent.
  const AccessRecord record = cyclic_record(2, {1, 1, 1, 1, 0, 0, 0, 1, 1});

  EXPECT_EQ(trace_victims(2, {record}).size(), 1U);
}

TEST(CyclicVictimsTest, leaves_out_sets_that_were_not_empty) {
  EXPECT_TRUE(trace_victims(2, {cyclic_record(2, {1, 0, 1, 1, 1, 1})}).empty());
}

TEST(CyclicVictimsTest, refuses_other_chases) {
  EXPECT_THROW(trace_victims(2, {{{0, 2, 1}, {1, 1, 1}}}), Error);
  EXPECT_THROW(trace_victims(2, {{{0, 1, 2}, {1, 1}}}), Error);
}

TEST(CyclicVictimsTest, lru_loses_the_oldest_and_victims_depend_on_the_one_before) {
  const auto toy = test::make_toy(Policy::lru, 8, 1);
  const AccessRecord record = test::chase_toy(*toy, 8, cyclic_trace(8, 900), 0, 1);

  const auto victims = trace_victims(8, {record});

  for (const Victim& victim : victims) EXPECT_EQ(victim.recency_rank, 8U);
  EXPECT_GT(spread_of(8, victims).history_association, 0.95);
}

TEST(CyclicVictimsTest, random_victims_do_not_depend_on_the_one_before) {
  Random random(4);
  std::vector<Victim> even;
  std::vector<Victim> odd;
  for (int i = 0; i < 4000; ++i) {
    even.push_back({static_cast<std::uint32_t>(random.below(8)), 1, {}});
    odd.push_back({static_cast<std::uint32_t>(std::min(random.below(8), random.below(8))), 1, {}});
    if (i == 0) continue;
    even.back().previous_way = even[even.size() - 2].way;
    odd.back().previous_way = odd[odd.size() - 2].way;
  }

  EXPECT_GT(spread_of(8, even).uniform_p_value, 1e-3);
  EXPECT_LT(spread_of(8, odd).uniform_p_value, 1e-12);
  EXPECT_NEAR(spread_of(8, odd).uniform_distance, 0.25, 0.03);
  EXPECT_LT(spread_of(8, odd).history_association, 0.1);
}

}  // namespace
}  // namespace sonde
