// How many of N warps, or blocks, should use the L1: hits against congestion of what handles misses
// (Dai et al., DAC 2016, section 5). Pure; jobs/bypass measures what goes in.
#pragma once

#include "trace/trace.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace sonde {

/// What the timed windows of a program's loads say, for one SM: medians over the SMs.
struct LoadWindows {
  double loads = 0;        // on the way through the L1
  double mean_cycles = 0;  // mean window of these; 0: none
};

/// Reads the lanes of a program played with windows. Lanes of an SM stand together.
/// @param through_l1 [lane of an SM] whether that warp loads through the L1
LoadWindows summarize_windows(std::span<const LaneTrace> lanes,
                              const std::vector<bool>& through_l1);

/// Performance of an SM while all its warps run: the sum over the warps of accesses per cycle (the
/// paper's MIPC); median over the SMs.
double accesses_per_cycle(std::span<const LaneTrace> lanes);

/// A program with each number of cached units that was measured. All vectors are as long as
/// `cached`, which ascends from 0 to the number of units.
struct BypassSweep {
  std::vector<int> cached;
  std::vector<double> performance;     // accesses per cycle of an SM
  std::vector<double> estimated_hits;  // lines of an SM that shadow tags say hit
  /// Cycles that loads through the L1 took longer than those of a warp alone, all together, for one
  /// SM; may have a value for the last of `cached` alone, then NaN elsewhere.
  std::vector<double> wait_cycles;
  double hit_gain_cycles = 0;  // of a warp alone: a miss less a hit
};

/// wait(L) / wait(N) = (L / N)^exponent.
struct PowerLaw {
  double exponent = 0;
  double r2 = 0;  // may be negative: no power law
  std::size_t points = 0;
};

/// Least squares over the points L = 1..N of all sweeps whose warps wait at N at least
/// `least_wait_cycles`, as the paper's figure 4 does for reservation failures; nullopt if there are
/// fewer than four points. Not in logarithms: small L may not wait at all.
std::optional<PowerLaw> fit_wait(std::span<const BypassSweep> sweeps, double least_wait_cycles);

/// R2 of that power over the same points, all sweeps that wait at all; 0 if none does.
double r2_of_wait(std::span<const BypassSweep> sweeps, double exponent);

/// Place in `cached` of the most adjusted hits, which are hits - e x wait(N) / hit gain x
/// (L / N)^exponent; of equal ones the last: bypass no more than is of use.
std::size_t choose_cached(const BypassSweep& sweep, double e, double exponent);

/// Place of the best performance; of those within `tolerance` (a fraction) of it the last.
std::size_t best_cached(const BypassSweep& sweep, double tolerance);

/// The weight of congestion whose choices lose least of the best performance, mean over the sweeps;
/// of equal ones that nearest to 0.5, the paper's. From the range of the paper, 0.3 to 0.7, and
/// wider: 0.05 to 2.
/// @pre a sweep
double learn_e(std::span<const BypassSweep> sweeps, double exponent);

}  // namespace sonde
