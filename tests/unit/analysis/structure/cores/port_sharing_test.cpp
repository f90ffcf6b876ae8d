// What streams that ran at once say of the ports that their units share.
#include "analysis/structure/cores/port_sharing.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sonde {
namespace {

using testing::ElementsAre;

TEST(PortSharingTest, noise_moves_the_limits) {
  EXPECT_EQ(choose_limits(0.001).slow, 1.03);
  EXPECT_EQ(choose_limits(0.001).fast, 1.01);
  EXPECT_NEAR(choose_limits(0.02).slow, 1.12, 1e-9);
  EXPECT_NEAR(choose_limits(0.02).fast, 1.06, 1e-9);
}

TEST(PortSharingTest, times_between_the_limits_say_nothing) {
  const Paces paces = split_paces({{3, 5, 7}, {1.0, 1.02, 1.2}}, {});
  EXPECT_THAT(paces.fast, ElementsAre(3));
  EXPECT_THAT(paces.slow, ElementsAre(7));
}

/// The first case is as seen on an H200: a GPC that reads at once, and a TPC of another one.
TEST(PortSharingTest, others_are_held_up_by_a_port_only_if_it_is_much) {
  EXPECT_FALSE(holds_up_others({{0, 1, 2, 9}, {1.45, 1.51, 1.50, 1.16}}, 3));
  EXPECT_TRUE(holds_up_others({{0, 1, 2, 9}, {1.45, 1.51, 1.50, 1.30}}, 3));
  EXPECT_TRUE(holds_up_others({{0, 1, 2, 8, 9}, {1.45, 1.51, 1.50, 1.0, 1.48}}, 3));
  EXPECT_FALSE(holds_up_others({{0, 1}, {1.4, 1.5}}, 2));
}

TEST(PortSharingTest, who_is_undisturbed_shares_with_nobody_there) {
  ApartTable table(4);
  const PortTrial trial{{0, 1, 2}, {1.2, 1.2, 1.0}};
  table.note_pairs(trial, split_paces(trial, {}));
  EXPECT_FALSE(table.are_apart(0, 1));
  EXPECT_TRUE(table.are_apart(0, 2));
  EXPECT_TRUE(table.are_apart(2, 1));
  EXPECT_FALSE(table.are_apart(2, 3)) << "it was not there";
}

TEST(PortSharingTest, an_overload_parts_the_late_from_the_others_only) {
  ApartTable table(4);
  table.note_overload({.fast = {2, 3}, .slow = {0, 1}});
  EXPECT_FALSE(table.are_apart(0, 1));
  EXPECT_FALSE(table.are_apart(2, 3)) << "their port need not be overloaded";
  EXPECT_TRUE(table.are_apart(1, 3));
  EXPECT_THAT(table.open_partners(0, {0, 1, 2, 3}), ElementsAre(1));
}

TEST(PortSharingTest, groups_are_units_of_which_no_two_are_apart) {
  ApartTable table(5);
  for (std::size_t a : {0u, 1u, 2u}) {
    for (std::size_t b : {3u, 4u}) table.set(a, b);
  }
  EXPECT_THAT(group_together(table, {0, 1, 2, 3, 4}), ElementsAre(0, 0, 0, 3, 3));
  EXPECT_THAT(group_together(table, {0, 1, 3}), ElementsAre(0, 0, -1, 3, -1));
}

TEST(PortSharingTest, units_that_contradict_each_other_are_in_no_group) {
  ApartTable table(4);
  table.set(0, 2);  // 1 may share with both
  for (std::size_t a : {0u, 1u, 2u}) table.set(a, 3);
  EXPECT_THAT(group_together(table, {0, 1, 2, 3}), ElementsAre(-1, -1, -1, 3));
}

TEST(PortSharingTest, groups_of_tpcs_are_groups_of_their_sms) {
  const SmGroups gpcs = expand_units({7, 7, -1}, {{0, 3}, {1, 4}, {2, 5}}, 6);
  EXPECT_THAT(gpcs.group_of_sm, ElementsAre(0, 0, -1, 0, 0, -1));
  EXPECT_THAT(gpcs.sizes, ElementsAre(4));
}

}  // namespace
}  // namespace sonde
