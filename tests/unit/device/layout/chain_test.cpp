#include "device/layout/chain.hpp"

#include "base/error.hpp"
#include "base/random.hpp"

#include <gmock/gmock.h>

#include <map>
#include <set>

namespace sonde::layout {
namespace {

std::vector<ChaseLane> one_lane(std::vector<std::uint64_t> offsets_bytes) {
  return {{0, std::move(offsets_bytes), {}}};
}

/// Plays the words as the GPU would. @return the sectors read by `accesses` loads of a lane
std::vector<std::uint64_t> chase_sectors(const ChainPlan& plan, std::size_t lane,
                                         std::uint64_t accesses, std::uint64_t& final_offset) {
  std::map<std::uint64_t, std::uint64_t> memory;
  for (const ChainWord& word : plan.words) memory[word.offset_bytes] = word.next_offset_bytes;
  std::vector<std::uint64_t> sectors;
  std::uint64_t at = plan.offset_bytes(lane, 0);
  for (std::uint64_t i = 0; i < accesses; ++i) {
    sectors.push_back(at / 32);
    at = memory.at(at);
  }
  final_offset = at;
  return sectors;
}

TEST(ChainTest, chases_the_list_cyclically) {
  const std::vector<std::uint64_t> list = {0, 4096, 128, 64, 8192};

  const auto plan = plan_chains(one_lane(list));

  ASSERT_TRUE(plan);
  for (std::size_t i = 0; i < list.size(); ++i) {
    EXPECT_EQ(plan->words[i].offset_bytes, list[i]) << "the very words, if none comes again";
  }
  std::uint64_t end = 0;
  const auto sectors = chase_sectors(*plan, 0, 12, end);
  for (std::size_t i = 0; i < 12; ++i) EXPECT_EQ(sectors[i], list[i % 5] / 32);
  EXPECT_EQ(end, plan->offset_bytes(0, 12));
  EXPECT_EQ(end, 128u);  // 12 mod 5 = 2
}

TEST(ChainTest, repeats_read_other_words_of_the_same_sector) {
  const std::vector<std::uint64_t> list = {0, 96, 0, 32, 0, 0, 96};

  const auto plan = plan_chains(one_lane(list));

  ASSERT_TRUE(plan);
  std::set<std::uint64_t> words;
  for (const ChainWord& word : plan->words) words.insert(word.offset_bytes);
  EXPECT_EQ(words.size(), list.size());
  std::uint64_t end = 0;
  const auto sectors = chase_sectors(*plan, 0, 7, end);
  for (std::size_t i = 0; i < list.size(); ++i) EXPECT_EQ(sectors[i], list[i] / 32);
}

TEST(ChainTest, gives_up_when_a_sector_has_no_word_left) {
  EXPECT_TRUE(plan_chains(one_lane({0, 0, 0, 0})));
  EXPECT_FALSE(plan_chains(one_lane({0, 0, 8, 16, 0})));
}

TEST(ChainTest, equal_lists_share_a_chain_and_others_do_not) {
  const std::vector<ChaseLane> lanes = {{0, {0, 128}, {}}, {1, {128, 0}, {}}, {2, {0, 128}, {}}};

  const auto plan = plan_chains(lanes);

  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->words.size(), 4u);
  EXPECT_EQ(plan->offset_bytes(0, 0), plan->offset_bytes(2, 0));
  EXPECT_NE(plan->offset_bytes(0, 0), plan->offset_bytes(1, 0));
  std::uint64_t end = 0;
  EXPECT_THAT(chase_sectors(*plan, 1, 3, end), testing::ElementsAre(4, 0, 4));
}

TEST(ChainTest, shares_take_turns_through_the_list_in_words_of_their_own) {
  const std::vector<std::uint64_t> list = {0, 128, 256, 384, 512, 640, 768};

  const auto lanes = with_shares(one_lane(list), 3);
  const auto plan = plan_chains(lanes);

  ASSERT_EQ(lanes.size(), 4u);
  EXPECT_EQ(lanes[0].offsets_bytes, list);
  EXPECT_THAT(lanes[1].offsets_bytes, testing::ElementsAre(0, 384, 768));
  EXPECT_THAT(lanes[2].offsets_bytes, testing::ElementsAre(128, 512));
  EXPECT_THAT(lanes[3].offsets_bytes, testing::ElementsAre(256, 640));
  ASSERT_TRUE(plan);
  std::set<std::uint64_t> words;
  for (const ChainWord& word : plan->words) words.insert(word.offset_bytes);
  EXPECT_EQ(words.size(), 2 * list.size());
  std::uint64_t end = 0;
  EXPECT_THAT(chase_sectors(*plan, 2, 3, end), testing::ElementsAre(4, 16, 4));
  EXPECT_EQ(end, plan->offset_bytes(2, 3));
}

TEST(ChainTest, a_list_in_sectors_of_its_own_leads_where_its_chains_do) {
  std::vector<std::uint64_t> list;
  for (std::uint64_t i = 0; i < 101; ++i) list.push_back(i * 37 % 101 * 128 + i % 4 * 8);
  const auto chains = plan_chains(with_shares(one_lane(list), 32));

  const auto plan = plan_list(list, 32);

  ASSERT_TRUE(plan);
  ASSERT_TRUE(chains);
  for (std::size_t lane = 0; lane <= 32; ++lane) {
    for (std::uint64_t access : {0u, 1u, 2u, 3u, 100u, 101u, 1000u}) {
      const std::uint64_t offset = plan->offset_bytes(lane, access);
      EXPECT_EQ(offset / 32, chains->offset_bytes(lane, access) / 32);
      const std::uint64_t listed = chains->offset_bytes(lane, access) / 32 * 32;
      EXPECT_LT(offset - listed, 32u);
    }
  }
  EXPECT_EQ(plan->offset_bytes(0, 5), list[5]);
  EXPECT_EQ(plan->offset_bytes(1 + 5, 0), next_word({}, list[5]));
  EXPECT_NE(next_word({}, list[5]), list[5]);
}

TEST(ChainTest, lists_that_share_a_sector_or_lie_far_apart_make_no_list_plan) {
  EXPECT_TRUE(plan_list({0, 32, 64}, 0));
  EXPECT_FALSE(plan_list({0, 32, 56}, 0));
  EXPECT_FALSE(plan_list({0, 32, std::uint64_t{1} << 40}, 0));
  EXPECT_FALSE(plan_list({0, 32, 64}, 32));
}

TEST(ChainTest, wide_and_narrow_buffers_give_the_same_chain) {
  Random random(5);
  std::vector<std::uint64_t> narrow;
  for (int i = 0; i < 500; ++i) narrow.push_back(random.below(400) * 8);
  std::vector<std::uint64_t> list;
  std::map<std::uint64_t, int> accesses;
  for (std::uint64_t offset : narrow) {
    if (++accesses[offset / 32] <= 4) list.push_back(offset);
  }
  std::vector<std::uint64_t> wide = list;
  wide.push_back(std::uint64_t{1} << 36);  // sparse: the table is hashed

  const auto dense = plan_chains(one_lane(list));
  const auto sparse = plan_chains(one_lane(wide));

  ASSERT_TRUE(dense && sparse);
  for (std::size_t i = 0; i < list.size(); ++i) {
    EXPECT_EQ(dense->words[i].offset_bytes, sparse->words[i].offset_bytes);
  }
}

TEST(ChainTest, scripts_use_the_largest_common_unit_and_32_bits) {
  const ScriptPlan plan = plan_scripts({{0, {0, 256, 256}, {}}, {1, {1280}, {}}});

  EXPECT_EQ(plan.unit_bytes, 256u);
  EXPECT_THAT(plan.scripts[0], testing::ElementsAre(0, 1, 1));
  EXPECT_THAT(plan.scripts[1], testing::ElementsAre(5));
  EXPECT_THROW(plan_scripts(one_lane({(std::uint64_t{1} << 36) + 8, 8})), DeviceError);
}

}  // namespace
}  // namespace sonde::layout
