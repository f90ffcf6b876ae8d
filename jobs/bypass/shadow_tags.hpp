// How many lines of loads would hit the L1 if only some warps or blocks used it: from the addresses
// alone, by shadow tags of some of its sets (Dai 2016, section 6; set sampling: Qureshi and Patt,
// MICRO 2006).
#pragma once

#include "device/probe/program_probe.hpp"

#include <cstdint>
#include <vector>

namespace sonde {

/// What the L1 is known to be.
struct TagGeometry {
  std::uint64_t line_bytes = 128;
  std::uint64_t sector_bytes = 32;  // that a miss brings; line_bytes if whole lines
  std::uint64_t lines = 0;
  int ways = 0;
};

/// One set in so many is sampled, as in the paper (4 of 32).
inline constexpr int sampled_set_ratio = 8;

/// Lines of loads of the SM of rank 0 among `sm_count` that hit: one number for each of `cached`. A
/// load hits as often as it covers lines whose sectors are all there. The warps take turns, one
/// access each.
/// Tags are LRU; sets are chosen by bits of the line's number XORed with all bits above.
std::vector<double> estimate_hits(const ProgramProbe& probe, const std::vector<int>& cached,
                                  const TagGeometry& geometry, int sm_count);

}  // namespace sonde
