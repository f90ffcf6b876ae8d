// How many of N warps should use the L1: cache contention against congestion of what handles
// misses (Dai et al., DAC 2016, section 5). Input: one measurement for each L of 0..N warps that
// load through the L1 while the others bypass it. Input of jobs/bypass.cpp.
#pragma once

#include "trace/trace.hpp"

#include <optional>
#include <span>
#include <vector>

namespace sonde {

/// Timed windows of a class of accesses when nothing else runs.
struct UnloadedClass {
  double typical_cycles = 0;  // median
  double longest_cycles = 0;  // 99 %: what noise alone reaches
};
UnloadedClass describe_unloaded(std::span<const std::uint32_t> window_cycles);

struct Unloaded {
  UnloadedClass hit;   // in the L1
  UnloadedClass miss;  // past it

  /// Timed windows below are hits.
  double threshold_cycles() const { return (hit.longest_cycles + miss.typical_cycles) / 2; }
  /// What one hit saves.
  double hit_gain_cycles() const { return miss.typical_cycles - hit.typical_cycles; }
};

/// One number L of cached warps, medians over the SMs.
struct BypassPoint {
  double cycles = 0;              // of the longest warp
  double accesses_per_cycle = 0;  // of all warps while all run: performance (the paper's MIPC)
  double hits = 0;                // in the L1
  double congestion = 0;  // cycles that accesses on the way through the L1 took beyond the unloaded
                          // latency of their class
};

/// Reads a BypassProbe's lanes (one for each SM and warp; warps below `cached_warps` use the L1).
BypassPoint summarize_bypass(const std::vector<LaneTrace>& lanes, int cached_warps,
                             const Unloaded& unloaded);

/// congestion(L) / congestion(N) = (L / N)^exponent.
struct PowerLaw {
  double exponent = 0;
  double r2 = 0;
};

/// Least squares of the normalised congestion over L = 1..N, as the paper's figure 4 does. Points
/// without congestion count (in logarithms they could not). r2 may be negative: no power law.
/// nullopt if congestion at N is below `least_congestion`.
std::optional<PowerLaw> fit_congestion(std::span<const BypassPoint> points,
                                       double least_congestion);

struct BypassModel {
  double e = 0.5;  // weight of congestion, in hits lost for each hit's gain of cycles lost
  int best_l = 0;  // largest adjusted hits
  std::vector<double> adjusted_hits;  // by L
};

/// Adjusted hits = hits - E x congestion in units of a hit's gain, the congestion from the power
/// law. E in 0.3..0.7 is the one whose adjusted hits follow performance best, 0.5 if
/// none does better. Of equal L the largest: bypass no more than is of use.
BypassModel fit_bypass_model(std::span<const BypassPoint> points,
                             const std::optional<PowerLaw>& law, double hit_gain_cycles);

/// The L with the best performance; of those within `tolerance` (a fraction) of it the largest.
int find_best_l(std::span<const BypassPoint> points, double tolerance);

}  // namespace sonde
