// Levels of a load path by latency, from chases over growing footprints.
#pragma once

#include <optional>
#include <vector>

namespace sonde {

/// Latencies of a steady cyclic chase.
struct FootprintChase {
  std::vector<double> cycles;
};

/// Loads that one level served.
struct LatencyClass {
  double low_cycles = 0;  // bounds of its latencies in the chases that it served
  double high_cycles = 0;
  std::vector<double> cycles;  // its latencies there
};

/// Classes that serve at least half of the loads of some chase, innermost first; rarer latencies
/// (mixtures, outliers) form no class. Latencies more than `gap_cycles` apart lie in different
/// classes.
std::vector<LatencyClass> find_latency_classes(const std::vector<FootprintChase>& chases,
                                               double gap_cycles);

/// The class of loads nearly all of which one level served.
LatencyClass class_of(const std::vector<double>& cycles);

/// Halfway between two neighbouring classes.
double threshold_between(const LatencyClass& inner, const LatencyClass& outer);

/// The middle of the gap between hits and misses, in cycles. nullopt if they overlap or the gap is
/// less than `least_gap_cycles`: then this path has no such cache. Ignores the upper 2 % of the
/// hits and the lower 10 % of the misses: outliers, and lines that a large chase hit by chance.
std::optional<double> separate_hits(const std::vector<double>& hits,
                                    const std::vector<double>& misses, double least_gap_cycles);

/// Half of the smallest difference published between two access patterns (GTX 780: P1 198 cycles,
/// P2 204; Mei and Chu 2016, section 5.2).
inline constexpr double least_pattern_gap_cycles = 3;
/// Between groups of hits of one pattern (slices of a cache, entries of a TLB).
inline constexpr double least_hit_gap_cycles = 4;
/// Hits of a first cache are at least this much faster than the next level on every published GPU
/// (Wong 2010; Mei and Chu 2016).
inline constexpr double least_first_cache_gap_cycles = 8;
/// Slices of a cache differ by a few cycles, levels of a path by more (published: 30 and more).
inline constexpr double least_level_gap_cycles = 12;
/// A level in front of the L2 answers sooner than this fraction of the L2's latency. The paths to
/// the L2 differ by some cycles (texture filters, calls of code), on known GPUs by up to a third.
inline constexpr double least_share_of_l2 = 0.75;
/// Memory is at least this much slower than the L2 on every published GPU.
inline constexpr double least_memory_gap_cycles = 16;
/// The partitions of a divided L2 or memory differ by more than jitter and slices do
/// (docs/methods/l2-partitions.md, docs/methods/latency.md).
inline constexpr double least_partition_gap_cycles = 40;

}  // namespace sonde
