// How far apart latencies must lie to come from different places, each by what it distinguishes.
// All lie above the jitter of one load (about one cycle) and below what was published.
#pragma once

namespace sonde {

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
