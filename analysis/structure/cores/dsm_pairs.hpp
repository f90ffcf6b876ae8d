// What traces of distributed shared memory say of pairs of blocks of a cluster: who read from whom,
// by rank and by SM. Input of jobs/dsm.cpp.
#pragma once

#include "trace/trace.hpp"

#include <optional>
#include <span>
#include <vector>

namespace sonde {

/// A block that read the shared memory of one of its cluster, its own perhaps.
struct DsmPair {
  int reader_rank = 0;
  int target_rank = 0;
  int reader_sm = -1;
  int target_sm = -1;
  double value = 0;  // cycles of a load, or bytes per cycle
};

/// How far apart two SMs of a cluster lie. All blocks of a cluster lie in one GPC (CUDA programming
/// guide, thread block clusters).
enum class DsmReach { own, same_tpc, same_gpc };

/// The reach of a pair. @param tpc_of_sm -1: not known
/// @return nothing if the TPC of either SM is not known
std::optional<DsmReach> reach_of(const DsmPair& pair, std::span<const int> tpc_of_sm);

/// Pairs of a trace of latencies, with the mean of their windows without the outer tenths.
/// @param lanes cluster by cluster, reader by reader, target by target (DsmProbe)
/// @throws Error if they are not whole clusters
std::vector<DsmPair> latency_pairs(std::span<const LaneTrace> lanes, int cluster_blocks,
                                   double overhead_cycles);

/// Pairs of a trace of streams, with the bytes per cycle of the reader. Lanes without a duration
/// are left out.
/// @param lanes cluster by cluster, rank by rank (DsmProbe)
/// @throws Error if they are not whole clusters
std::vector<DsmPair> stream_pairs(std::span<const LaneTrace> lanes, int cluster_blocks,
                                  int distance, double element_bytes);

/// Median by reader and target: row by row, all targets of the first rank, then of the next.
/// Shape: cluster_blocks x cluster_blocks. NaN where there is no pair.
std::vector<double> rank_matrix(std::span<const DsmPair> pairs, int cluster_blocks);

/// Mean by the reader's SM over the SMs of other TPCs that it read from; NaN for SMs that read from
/// none.
std::vector<double> reader_map(std::span<const DsmPair> pairs, std::span<const int> tpc_of_sm);

}  // namespace sonde
