// What streams that ran at once say of the ports that their units share.
#include "analysis/structure/cores/issue.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sonde {
namespace {

using testing::ElementsAre;

/// The first case is as seen on an H200: a GPC that reads at once, and a TPC of another one.
TEST(PortSharingTest, others_are_held_up_by_a_port_only_if_it_is_much) {
  EXPECT_FALSE(holds_up_others({{0, 1, 2, 9}, {1.45, 1.51, 1.50, 1.16}}, 3));
  EXPECT_TRUE(holds_up_others({{0, 1, 2, 9}, {1.45, 1.51, 1.50, 1.30}}, 3));
  EXPECT_TRUE(holds_up_others({{0, 1, 2, 8, 9}, {1.45, 1.51, 1.50, 1.0, 1.48}}, 3));
  EXPECT_FALSE(holds_up_others({{0, 1}, {1.4, 1.5}}, 2));
}

TEST(PortSharingTest, units_that_contradict_each_other_are_in_no_group) {
  ApartTable table(4);
  table.set(0, 2);  // 1 may share with both
  for (std::size_t a : {0u, 1u, 2u}) table.set(a, 3);
  EXPECT_THAT(group_together(table, {0, 1, 2, 3}), ElementsAre(-1, -1, -1, 3));
}

}  // namespace
}  // namespace sonde
