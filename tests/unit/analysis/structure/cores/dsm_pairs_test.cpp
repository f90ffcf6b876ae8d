#include "analysis/structure/cores/dsm_pairs.hpp"

#include "base/error.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace sonde {
namespace {

using ::testing::ElementsAre;

/// Two clusters of two: SMs 4, 5 and 9, 2. A lane's windows are 100 * reader + target.
std::vector<LaneTrace> two_clusters() {
  std::vector<LaneTrace> lanes;
  for (const std::vector<int>& cluster : {std::vector{4, 5}, {9, 2}}) {
    for (int reader : cluster) {
      for (int target : cluster) {
        LaneTrace& lane = lanes.emplace_back();
        lane.sm = reader;
        lane.window_cycles.assign(4, static_cast<std::uint32_t>(100 * reader + target));
      }
    }
  }
  return lanes;
}

TEST(DsmPairsTest, each_lane_of_latencies_knows_both_sms) {
  const std::vector<DsmPair> pairs = latency_pairs(two_clusters(), 2, 2);

  ASSERT_EQ(pairs.size(), 8u);
  for (const DsmPair& pair : pairs) {
    EXPECT_EQ(pair.value, 100 * pair.reader_sm + pair.target_sm - 2);
    EXPECT_EQ(pair.reader_rank == pair.target_rank, pair.reader_sm == pair.target_sm);
  }
  EXPECT_EQ(pairs[5].reader_sm, 9);
  EXPECT_EQ(pairs[5].target_sm, 2);
}

TEST(DsmPairsTest, lanes_that_are_no_whole_clusters_are_refused) {
  std::vector<LaneTrace> lanes = two_clusters();
  lanes.pop_back();
  EXPECT_THROW(latency_pairs(lanes, 2, 0), Error);
  EXPECT_THROW(stream_pairs(lanes, 2, 1, 16), Error);
}

TEST(DsmPairsTest, streams_go_round_the_cluster) {
  std::vector<LaneTrace> lanes(3);
  for (std::size_t i = 0; i < lanes.size(); ++i) {
    lanes[i].sm = static_cast<int>(10 + i);
    lanes[i].accesses = 100;
    lanes[i].elapsed_cycles = 50 * i;  // the first has no duration
  }
  const std::vector<DsmPair> pairs = stream_pairs(lanes, 3, 2, 16);

  ASSERT_EQ(pairs.size(), 2u);
  EXPECT_EQ(pairs[0].target_sm, 10);
  EXPECT_EQ(pairs[1].target_sm, 11);
  EXPECT_EQ(pairs[0].value, 32);
  EXPECT_EQ(pairs[1].value, 16);
}

TEST(DsmPairsTest, reach_needs_both_tpcs) {
  const std::vector<double> tpcs{0, 0, 1, -1};
  const auto reach = [&](int reader, int target) {
    return reach_of({.reader_rank = reader,
                     .target_rank = target,
                     .reader_sm = reader,
                     .target_sm = target,
                     .value = 0},
                    tpcs);
  };
  EXPECT_EQ(reach(0, 0), DsmReach::own);
  EXPECT_EQ(reach(3, 3), DsmReach::own);
  EXPECT_EQ(reach(0, 1), DsmReach::same_tpc);
  EXPECT_EQ(reach(1, 2), DsmReach::same_gpc);
  EXPECT_EQ(reach(2, 3), std::nullopt);
  EXPECT_EQ(reach(2, 7), std::nullopt);
}

TEST(DsmPairsTest, matrix_and_map_sum_up_pairs) {
  const auto pair = [](int reader, int target, double value) {
    return DsmPair{reader, target, reader, target, value};
  };
  const std::vector<DsmPair> pairs{pair(0, 1, 5), pair(0, 1, 7), pair(1, 0, 9), pair(0, 0, 1)};
  const std::vector<double> matrix = rank_matrix(pairs, 2);
  EXPECT_EQ(matrix[0], 1);
  EXPECT_EQ(matrix[1], 6);
  EXPECT_EQ(matrix[2], 9);
  EXPECT_TRUE(std::isnan(matrix[3]));

  EXPECT_THAT(reader_map(pairs, std::vector<double>{0, 1}), ElementsAre(6, 9));
  EXPECT_TRUE(std::isnan(reader_map(pairs, std::vector<double>{0, 0})[0]));
}

}  // namespace
}  // namespace sonde
