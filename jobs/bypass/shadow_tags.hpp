// Estimates how many accessed lines would hit the L1 if only some warps or blocks used it, from the
// addresses alone, by shadow tags of some of its sets (Dai 2016, section 6; set sampling: Qureshi
// and Patt, MICRO 2006).
#pragma once

#include "device/probe/program_probe.hpp"

#include <cstdint>
#include <vector>

namespace sonde {

/// The geometry of the L1.
struct TagGeometry {
  std::uint64_t line_bytes = 128;
  std::uint64_t sector_bytes = 32;  // that a miss brings; line_bytes if it brings whole lines
  std::uint64_t lines = 0;
  int ways = 0;
};

/// One in this many sets is sampled, as in the paper (4 of 32).
inline constexpr int sampled_set_ratio = 8;

/// For each number in `cached`: how many lines of loads hit on the first of `sm_count` SMs. A load
/// counts one hit for each covered line that has all accessed sectors. The warps take turns, one
/// access each. Sets are LRU; the index XORs the bits of the line's number in groups.
std::vector<double> estimate_hits(const ProgramProbe& probe, const std::vector<int>& cached,
                                  const TagGeometry& geometry, int sm_count);

}  // namespace sonde
