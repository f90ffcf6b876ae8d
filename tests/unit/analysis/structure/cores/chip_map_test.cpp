// Maps of SMs from several methods: agreement, contradiction, and what clusters cannot tell.
#include "analysis/structure/cores/chip_map.hpp"

#include <gmock/gmock.h>

namespace sonde {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

SmGroups groups(const std::vector<int>& numbers) { return make_groups(numbers, Singles::keep); }

TEST(ChipMapTest, a_contradiction_is_doubted_and_said_and_two_methods_outvote_one) {
  const MapEvidence evidence[] = {{"clocks", groups({0, 0, 1, 1}), 0.95},
                                  {"clusters", groups({0, 0, 1, 1}), 0.9},
                                  {"ports", groups({0, 1, 0, 1}), 0.95}};
  const MapVerdict even = combine_maps(std::span(evidence).subspan(1));
  EXPECT_LT(even.confidence(4), 0.5);
  EXPECT_THAT(even.remark(4), HasSubstr("contradicted by ports"));
  const MapVerdict outvoted = combine_maps(evidence);
  EXPECT_GT(outvoted.confidence(4), 0.5);
  EXPECT_LT(outvoted.confidence(4), 0.8);
  EXPECT_THAT(outvoted.remark(4), HasSubstr("contradicted by ports"));
}

TEST(ChipMapTest, sms_without_a_group_cost_confidence) {
  const MapEvidence evidence[] = {{"clusters", groups({0, 0, -1, -1}), 0.9}};
  const MapVerdict verdict = combine_maps(evidence);
  EXPECT_DOUBLE_EQ(verdict.confidence(4), 0.45);
  EXPECT_THAT(verdict.remark(4), HasSubstr("2 of 4 SMs are in no group"));
}

/// GPCs {0, 1, 2, 3} and {4, 5, 6, 7}, often enough for both halves; SMs 8 and 9 only ever pair.
std::vector<Cluster> some_clusters() {
  std::vector<Cluster> clusters;
  for (int i = 0; i < 4; ++i) {
    clusters.insert(clusters.end(),
                    {{0, 1}, {0, 1}, {2, 3}, {2, 3}, {4, 5}, {4, 5}, {6, 7}, {6, 7}});
    clusters.insert(clusters.end(), {{8, 9}, {8, 9}, {0, 1, 2}, {0, 1, 2}, {1, 2, 3}, {1, 2, 3}});
    clusters.insert(clusters.end(), {{4, 5, 6}, {4, 5, 6}, {5, 6, 7}, {5, 6, 7}});
  }
  return clusters;
}

TEST(ChipMapTest, clusters_of_which_half_say_less_tell_no_gpcs) {
  std::vector<Cluster> clusters = some_clusters();
  clusters.push_back({3, 4});  // in one half only
  EXPECT_TRUE(gpcs_of_clusters(clusters, {}, 10).sizes.empty());
}

TEST(ChipMapTest, pairs_are_tpcs_if_all_sms_have_one_partner_and_larger_clusters_join_them) {
  const std::vector<Cluster> pairs{{0, 1}, {2, 3}, {4, 5}, {6, 7}, {8, 9}};
  EXPECT_EQ(tpcs_of_clusters(pairs, some_clusters(), 10).sizes, (std::vector<int>(5, 2)));
  EXPECT_TRUE(tpcs_of_clusters(pairs, pairs, 10).sizes.empty()) << "pairs may be whole GPCs";
  EXPECT_TRUE(tpcs_of_clusters(pairs, some_clusters(), 11).sizes.empty()) << "SM 10 has none";
  const std::vector<Cluster> changing{{0, 1}, {2, 3}, {1, 2}, {3, 0}, {4, 5}, {6, 7}, {8, 9}};
  EXPECT_TRUE(tpcs_of_clusters(changing, some_clusters(), 10).sizes.empty());
}

/// The first case is as seen on an H200: a GPC that reads at once, and a TPC of another one.
TEST(ChipMapTest, others_are_held_up_by_a_port_only_if_it_is_much) {
  EXPECT_FALSE(holds_up_others(std::vector{1.45, 1.51, 1.50, 1.16}, 3));
  EXPECT_TRUE(holds_up_others(std::vector{1.45, 1.51, 1.50, 1.30}, 3));
  EXPECT_TRUE(holds_up_others(std::vector{1.45, 1.51, 1.50, 1.0, 1.48}, 3));
  EXPECT_FALSE(holds_up_others(std::vector{1.4, 1.5}, 2));
}

}  // namespace
}  // namespace sonde
