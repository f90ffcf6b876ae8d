// Levels of a path by latency: who serves the loads of chases through growing footprints. The first
// step towards caches that lie behind one another.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace sonde {

/// Latencies of a steady cyclic chase.
struct FootprintChase {
  std::uint64_t span_bytes = 0;
  std::vector<double> cycles;
};

/// Loads that were served from one place.
struct LatencyClass {
  double low_cycles = 0;  // bounds of its latencies in those that do
  double high_cycles = 0;
  std::vector<double> cycles;  // its latencies there
};

/// Classes that serve at least half of the loads of some chase, innermost first: what is seen in
/// passing only (mixtures, outliers) is none. Latencies further apart than `gap_cycles` are of
/// different classes.
std::vector<LatencyClass> find_latency_classes(const std::vector<FootprintChase>& chases,
                                               double gap_cycles);

/// Loads of which one place served nearly all.
LatencyClass class_of(const std::vector<double>& cycles);

/// Halfway between the latencies of two neighbouring classes.
double threshold_between(const LatencyClass& inner, const LatencyClass& outer);

/// The middle of the gap between hits and misses, in cycles. nullopt if they touch or differ by
/// less than `least_gap_cycles`: then there is no such cache on this path. The outer 2 % of the
/// hits and 10 % of the misses are ignored: single outliers, and lines that a large chase met by
/// chance.
std::optional<double> separate_hits(const std::vector<double>& hits,
                                    const std::vector<double>& misses, double least_gap_cycles);

/// Half of the smallest difference published between two access patterns (GTX 780: P1 198 cycles,
/// P2 204; Mei and Chu 2016, section 5.2).
inline constexpr double least_pattern_gap_cycles = 3;
/// Groups among hits of one pattern: slices of a cache, entries of a TLB.
inline constexpr double least_hit_gap_cycles = 4;
/// Hits of a first cache are at least this much faster than the next level on every GPU published
/// (Wong 2010; Mei and Chu 2016).
inline constexpr double least_first_cache_gap_cycles = 8;
/// Slices of one cache lie some cycles apart, levels of one path more (published: 30 and more).
inline constexpr double least_level_gap_cycles = 12;
/// What lies in front of the L2 answers sooner than the L2 does; the paths to it differ by some
/// cycles (texture filters, calls of code), on GPUs known by up to a third.
inline constexpr double least_share_of_l2 = 0.75;
/// The memory lies at least this far behind the L2 on every GPU published.
inline constexpr double least_memory_gap_cycles = 16;
/// Partitions of a divided L2 or memory differ by more than jitter and its slices do
/// (docs/methods/l2-partitions.md, docs/methods/latency.md).
inline constexpr double least_partition_gap_cycles = 40;

}  // namespace sonde
