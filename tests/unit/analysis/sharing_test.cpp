#include "analysis/sharing.hpp"

#include <gmock/gmock.h>

namespace sonde {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAreArray;

TEST(SharingTest, two_lists_in_one_cache_lose_and_in_two_do_not) {
  EXPECT_EQ(judge_loss(0, 1), Loss::some);
  EXPECT_EQ(judge_loss(0, 0.28), Loss::some) << "the best policy loses 0.4 of 1.4 lists of two";
  EXPECT_EQ(judge_loss(0, 0.01), Loss::none);
  EXPECT_EQ(judge_loss(0.1, 0.12), Loss::none);
  EXPECT_EQ(judge_loss(0, 0.12), Loss::unclear);
  EXPECT_EQ(judge_loss(0.3, 0.6), Loss::some) << "sets that fill unevenly, or replace at random";
  EXPECT_EQ(judge_loss(0.3, 0.35), Loss::none);
  EXPECT_EQ(judge_loss(0.5, 1), Loss::unclear) << "misses much when it is alone";
}

std::vector<int> from_1_to(int last) {
  std::vector<int> sms;
  for (int sm = 1; sm <= last; ++sm) sms.push_back(sm);
  return sms;
}

/// Twelve SMs: TPCs of two, dealt over three GPCs.
KnownGroups twelve_sms() {
  return {.tpc_of_sm = {0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5},
          .gpc_of_sm = {0, 0, 1, 1, 2, 2, 0, 0, 1, 1, 2, 2}};
}

TEST(SharingTest, known_groups_name_a_scope) {
  const auto name = [](const std::vector<int>& sms) {
    return name_scope(sms, 12, twelve_sms()).name;
  };
  EXPECT_EQ(name({0}), "sm");
  EXPECT_EQ(name({0, 1}), "tpc");
  EXPECT_EQ(name({0, 1, 6, 7}), "gpc");
  EXPECT_EQ(name({0, 1, 6}), "part of a gpc");
  EXPECT_EQ(name({0, 1, 2, 3, 6, 7, 8, 9}), "partition");
  EXPECT_EQ(name(from_1_to(12)), "device");
  EXPECT_EQ(name({0, 1, 2}), std::nullopt) << "parts of two GPCs";
}

TEST(SharingTest, a_scope_is_as_sure_as_the_groups_that_name_it) {
  KnownGroups groups = twelve_sms();
  groups.tpc_confidence = 0.9;
  groups.gpc_confidence = 0.7;
  EXPECT_EQ(name_scope({0}, 12, groups).confidence, 1);
  EXPECT_EQ(name_scope({0, 1}, 12, groups).confidence, 0.9);
  EXPECT_EQ(name_scope({0, 1, 6, 7}, 12, groups).confidence, 0.7);
}

TEST(SharingTest, a_guess_goes_by_the_number_of_sms_beyond_a_tpc) {
  EXPECT_EQ(guess_scope({0, 1, 16, 17, 32, 33}, 132, {}).name, "part of a gpc");
  EXPECT_EQ(guess_scope({0, 1, 2, 3, 4, 5}, 30, {}).name, "gpc");
  EXPECT_EQ(guess_scope({0, 1, 2, 3}, 24, {}).name, "gpc") << "no TPC has four SMs";
  EXPECT_EQ(guess_scope({0, 1, 2}, 24, {}).name, std::nullopt);
  EXPECT_EQ(guess_scope({0, 1, 2, 3}, 12, twelve_sms()).name, std::nullopt) << "GPCs are known";
}

TEST(SharingTest, an_l1_that_gives_way_to_shared_memory_is_its_array) {
  constexpr double kib = 1024;
  EXPECT_EQ(shrinks_with_carveout({16 * kib, 48 * kib}, {48 * kib, 16 * kib}), true);
  EXPECT_EQ(shrinks_with_carveout({8 * kib, 228 * kib}, {248 * kib, 28 * kib}), true);
  EXPECT_EQ(shrinks_with_carveout({16 * kib, 48 * kib}, {24 * kib, 24 * kib}), false);
  EXPECT_EQ(shrinks_with_carveout({16 * kib, 48 * kib}, {24 * kib, 22 * kib}), std::nullopt);
  EXPECT_EQ(shrinks_with_carveout({16 * kib}, {48 * kib}), std::nullopt);
}

}  // namespace
}  // namespace sonde
