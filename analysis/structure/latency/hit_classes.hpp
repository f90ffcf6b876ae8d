// Is a load a hit? Thresholds come from chases whose outcome is known by construction: a footprint
// so small that all of it stays, and one that cannot be there.
#pragma once

#include <optional>
#include <vector>

namespace sonde {

/// Two classes of latency with an empty gap between them.
struct HitClasses {
  double hit_cycles = 0;  // medians
  double miss_cycles = 0;
  double threshold_cycles = 0;  // in the middle of the gap
};

/// nullopt if the classes touch or differ by less than `least_gap_cycles`: then there is no such
/// cache on this path. The outer 2 % of the hits and 10 % of the misses are ignored: single
/// outliers, and lines that a large chase met by chance.
std::optional<HitClasses> separate_hits(const std::vector<double>& hits,
                                        const std::vector<double>& misses, double least_gap_cycles);

/// One number for latencies of memory: their median, or where they fall into two groups of some
/// size, the partitions of a device with two, the middle between the medians of these: unlike the
/// median of all it does not jump with the share of each partition.
struct MemoryLatency {
  double cycles = 0;
  double near_cycles = 0;  // 0: one group only
  double far_cycles = 0;
};
/// @pre not empty
MemoryLatency summarize_memory_latency(const std::vector<double>& cycles);

}  // namespace sonde
