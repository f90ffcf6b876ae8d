// Pairs of blocks of a cluster from traces of distributed shared memory: who read from whom, by
// rank and by SM. For jobs/dsm.cpp.
#pragma once

#include "trace/trace.hpp"

#include <optional>
#include <span>
#include <vector>

namespace sonde {

/// A block that read the shared memory of a block of its cluster, possibly its own.
struct DsmPair {
  int reader_rank = 0;
  int target_rank = 0;
  int reader_sm = -1;
  int target_sm = -1;
  double value = 0;  // cycles of a load, or bytes per cycle
};

/// Distance of two SMs of a cluster. All blocks of a cluster lie in one GPC (CUDA programming
/// guide, thread block clusters).
enum class DsmReach { own, same_tpc, same_gpc };

/// The reach of a pair. @param tpc_of_sm -1: unknown
/// @return nothing if the TPC of either SM is unknown
std::optional<DsmReach> reach_of(const DsmPair& pair, std::span<const int> tpc_of_sm);

/// Pairs of a trace of latencies, each with the trimmed mean of its windows (outer tenths cut).
/// @param lanes by cluster, reader and target (DsmProbe)
/// @throws Error if the lanes are not whole clusters
std::vector<DsmPair> latency_pairs(std::span<const LaneTrace> lanes, int cluster_blocks,
                                   double overhead_cycles);

/// Pairs of a trace of streams, with the reader's bytes per cycle. Leaves out lanes without a
/// duration.
/// @param lanes by cluster and rank (DsmProbe)
/// @throws Error if the lanes are not whole clusters
std::vector<DsmPair> stream_pairs(std::span<const LaneTrace> lanes, int cluster_blocks,
                                  int distance, double element_bytes);

/// Median of each pair of ranks. Shape: cluster_blocks (reader) x cluster_blocks (target), row by
/// row. NaN without a pair.
std::vector<double> rank_matrix(std::span<const DsmPair> pairs, int cluster_blocks);

/// For each SM, the mean over the SMs of other TPCs that it read from; NaN if there are none.
std::vector<double> reader_map(std::span<const DsmPair> pairs, std::span<const int> tpc_of_sm);

}  // namespace sonde
