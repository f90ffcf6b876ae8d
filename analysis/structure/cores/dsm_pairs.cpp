// Finds the two SMs of each lane, and summarizes pairs by rank and by reader.
#include "analysis/structure/cores/dsm_pairs.hpp"

#include "analysis/statistics.hpp"
#include "base/error.hpp"

#include <cmath>

namespace sonde {
namespace {

constexpr double cut_fraction = 0.1;  // of the windows of a pair, cut at each end

std::size_t first_of_cluster(std::size_t lane, std::size_t lanes_per_cluster) {
  return lane / lanes_per_cluster * lanes_per_cluster;
}

void check_lanes(std::span<const LaneTrace> lanes, std::size_t lanes_per_cluster) {
  require(lanes_per_cluster > 0 && lanes.size() % lanes_per_cluster == 0,
          "the lanes of a trace do not form whole clusters");
}

}  // namespace

std::optional<DsmReach> reach_of(const DsmPair& pair, std::span<const int> tpc_of_sm) {
  if (pair.reader_rank == pair.target_rank) return DsmReach::own;
  const auto tpc_of = [&](int sm) {
    const auto at = static_cast<std::size_t>(sm);
    return sm >= 0 && at < tpc_of_sm.size() ? tpc_of_sm[at] : -1;
  };
  const int reader = tpc_of(pair.reader_sm);
  const int target = tpc_of(pair.target_sm);
  if (reader < 0 || target < 0) return std::nullopt;
  return reader == target ? DsmReach::same_tpc : DsmReach::same_gpc;
}

std::vector<DsmPair> latency_pairs(std::span<const LaneTrace> lanes, int cluster_blocks,
                                   double overhead_cycles) {
  const auto blocks = static_cast<std::size_t>(cluster_blocks);
  const std::size_t squared = blocks * blocks;
  check_lanes(lanes, squared);
  std::vector<DsmPair> pairs;
  for (std::size_t i = 0; i < lanes.size(); ++i) {
    const std::size_t first = first_of_cluster(i, squared);
    const std::size_t target = i % blocks;
    const auto& windows = lanes[i].window_cycles;
    pairs.push_back(
        {.reader_rank = static_cast<int>((i - first) / blocks),
         .target_rank = static_cast<int>(target),
         .reader_sm = lanes[i].sm,
         .target_sm = lanes[first + target * blocks].sm,
         .value = trimmed_mean({windows.begin(), windows.end()}, cut_fraction) - overhead_cycles});
  }
  return pairs;
}

std::vector<DsmPair> stream_pairs(std::span<const LaneTrace> lanes, int cluster_blocks,
                                  int distance, double element_bytes) {
  const auto blocks = static_cast<std::size_t>(cluster_blocks);
  check_lanes(lanes, blocks);
  std::vector<DsmPair> pairs;
  for (std::size_t i = 0; i < lanes.size(); ++i) {
    if (lanes[i].elapsed_cycles == 0) continue;
    const std::size_t first = first_of_cluster(i, blocks);
    const std::size_t target = (i - first + static_cast<std::size_t>(distance)) % blocks;
    pairs.push_back({.reader_rank = static_cast<int>(i - first),
                     .target_rank = static_cast<int>(target),
                     .reader_sm = lanes[i].sm,
                     .target_sm = lanes[first + target].sm,
                     .value = element_bytes * static_cast<double>(lanes[i].accesses) /
                              static_cast<double>(lanes[i].elapsed_cycles)});
  }
  return pairs;
}

std::vector<double> rank_matrix(std::span<const DsmPair> pairs, int cluster_blocks) {
  const auto blocks = static_cast<std::size_t>(cluster_blocks);
  std::vector<std::vector<double>> values(blocks * blocks);
  for (const DsmPair& pair : pairs) {
    const auto row = static_cast<std::size_t>(pair.reader_rank) * blocks;
    values[row + static_cast<std::size_t>(pair.target_rank)].push_back(pair.value);
  }
  std::vector<double> matrix;
  for (std::vector<double>& of_place : values) matrix.push_back(median_in_place(of_place));
  return matrix;
}

std::vector<double> reader_map(std::span<const DsmPair> pairs, std::span<const int> tpc_of_sm) {
  std::vector<double> sums(tpc_of_sm.size());
  std::vector<double> counts(tpc_of_sm.size());
  for (const DsmPair& pair : pairs) {
    if (reach_of(pair, tpc_of_sm) != DsmReach::same_gpc) continue;
    sums[static_cast<std::size_t>(pair.reader_sm)] += pair.value;
    counts[static_cast<std::size_t>(pair.reader_sm)] += 1;
  }
  std::vector<double> map;
  for (std::size_t sm = 0; sm < sums.size(); ++sm) {
    map.push_back(counts[sm] > 0 ? sums[sm] / counts[sm] : NAN);
  }
  return map;
}

}  // namespace sonde
