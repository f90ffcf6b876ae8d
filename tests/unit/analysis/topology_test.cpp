// A chip with uneven GPCs comes back from the clusters that fit into it.
#include "analysis/topology.hpp"

#include "analysis/structure/latency/near_far.hpp"
#include "base/random.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace sonde {
namespace {

/// GPCs of a chip, each with its SMs; clusters are cut from each GPC's SMs in order, from a start
/// that moves with the launch.
using Chip = std::vector<std::vector<int>>;

std::vector<LaneTrace> launch_clusters(const Chip& chip, std::size_t blocks, std::size_t launch) {
  std::vector<LaneTrace> lanes;
  int number = 0;
  for (const auto& gpc : chip) {
    for (std::size_t cluster = 0; cluster < gpc.size() / blocks; ++cluster, ++number) {
      for (std::size_t i = 0; i < blocks; ++i) {
        LaneTrace lane;
        lane.sm = gpc[(2 * launch + cluster * blocks + i) % gpc.size()];
        lane.cluster = number;
        lanes.push_back(lane);
      }
    }
  }
  return lanes;
}

const Chip uneven{{0, 1, 6, 7, 12, 13}, {2, 3, 8, 9}, {4, 5, 10, 11, 14, 15}};

TEST(TopologyTest, gpcs_are_joined_from_clusters_of_several_sizes) {
  std::vector<Cluster> clusters;
  for (std::size_t blocks : {2u, 4u}) {
    for (std::size_t launch = 0; launch < 3; ++launch) {
      const auto found =
          collect_clusters(launch_clusters(uneven, blocks, launch), static_cast<int>(blocks));
      clusters.insert(clusters.end(), found.begin(), found.end());
    }
  }
  const SmGroups gpcs = join_clusters(clusters, 17);
  EXPECT_EQ(gpcs.sizes, (std::vector<int>{6, 4, 6}));
  EXPECT_EQ(gpcs.group_of_sm,
            (std::vector<int>{0, 0, 1, 1, 2, 2, 0, 0, 1, 1, 2, 2, 0, 0, 2, 2, -1}));
}

TEST(TopologyTest, cluster_numbers_may_start_again_with_each_launch) {
  auto lanes = launch_clusters({{0, 1, 2, 3}}, 2, 0);
  const auto second = launch_clusters({{4, 5, 6, 7}}, 2, 0);
  lanes.insert(lanes.end(), second.begin(), second.end());
  const auto clusters = collect_clusters(lanes, 2);
  EXPECT_EQ(clusters, (std::vector<Cluster>{{0, 1}, {2, 3}, {4, 5}, {6, 7}}));
}

TEST(TopologyTest, constant_partners_are_tpcs_and_changing_ones_are_not) {
  const std::vector<Cluster> pairs{{0, 1}, {3, 2}, {1, 0}, {2, 3}, {4, 5}, {4, 6}};
  const SmGroups tpcs = pair_partners(pairs, 8);
  EXPECT_EQ(tpcs.group_of_sm, (std::vector<int>{0, 0, 1, 1, -1, -1, -1, -1}));
  EXPECT_EQ(tpcs.sizes, (std::vector<int>{2, 2}));
}

std::vector<std::vector<double>> line_latencies(double far_excess, double slice_spread) {
  Random random(11);
  std::vector<std::vector<double>> map;
  for (int sm = 0; sm < 16; ++sm) {
    std::vector<double> lines;
    for (int line = 0; line < 300; ++line) {
      const bool far = random.below(2) == 0;
      lines.push_back(230 + sm + (far ? far_excess : 0) + slice_spread * random.unit());
    }
    map.push_back(lines);
  }
  return map;
}

TEST(TopologyTest, two_partitions_show_as_two_groups_of_lines) {
  const auto halves = split_near_far(line_latencies(60, 25));
  ASSERT_TRUE(halves);
  EXPECT_NEAR(halves->far_cycles - halves->near_cycles, 60, 4);
  EXPECT_NEAR(halves->near_fraction, 0.5, 0.1);
  EXPECT_EQ(halves->sms, 16);
}

TEST(TopologyTest, tail_of_refreshes_does_not_hide_two_groups) {
  auto map = line_latencies(170, 50);
  Random random(5);
  for (auto& lines : map) {
    for (double& latency : lines) {
      if (random.below(8) == 0) latency += 100 + 400 * random.unit();
    }
  }
  const auto halves = split_near_far(map);
  ASSERT_TRUE(halves);
  EXPECT_NEAR(halves->far_cycles - halves->near_cycles, 170, 15);
}

TEST(TopologyTest, cold_lines_of_an_h200_lie_in_two_groups) {
  // Windows that SM 130 of an H200 recorded, in bins of 20 cycles.
  const int counts[] = {29, 115, 108, 75, 14, 2, 3, 11, 34, 29, 56, 87, 80, 40, 8, 4, 0, 2, 2, 4,
                        7,  4,   3,   5,  4,  2, 8, 9,  3,  2,  2,  1,  2,  1,  3, 4, 1, 2, 2, 0};
  std::vector<double> lines;
  for (int bin = 0; bin < 40; ++bin) {
    for (int i = 0; i < counts[bin]; ++i) lines.push_back(490 + 20 * bin);
  }
  const auto halves = split_near_far(std::vector<std::vector<double>>{lines});
  ASSERT_TRUE(halves);
  EXPECT_NEAR(halves->near_cycles, 530, 10);
  EXPECT_NEAR(halves->far_cycles, 715, 15);
}

TEST(TopologyTest, spread_over_slices_is_not_taken_for_partitions) {
  EXPECT_FALSE(split_near_far(line_latencies(0, 60)));
  EXPECT_FALSE(split_near_far(line_latencies(0, 0)));
  EXPECT_FALSE(split_near_far(line_latencies(0, 6)));
}

}  // namespace
}  // namespace sonde
