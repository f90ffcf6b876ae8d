// How many of N warps or blocks should use the L1: hits against congestion of the miss resources
// (Dai et al., DAC 2016, section 5). Pure; jobs/bypass measures its input.
#pragma once

#include "trace/trace.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace sonde {

/// Timed windows of a program's loads in one SM; medians over the SMs.
struct LoadWindows {
  double loads = 0;        // through the L1
  double mean_cycles = 0;  // mean window of these loads; 0: there are none
};

/// Reads the lanes of a program with timed windows. The lanes of an SM are adjacent.
/// @param through_l1 [lane of an SM] true if this warp loads through the L1
LoadWindows summarize_windows(std::span<const LaneTrace> lanes,
                              const std::vector<bool>& through_l1);

/// Performance of an SM while all its warps run: accesses per cycle, summed over the warps (the
/// paper's MIPC); median over the SMs.
double accesses_per_cycle(std::span<const LaneTrace> lanes);

/// A program, measured with several numbers of cached units. All vectors have the size of `cached`,
/// which ascends from 0 to the number of units.
struct BypassSweep {
  std::vector<int> cached;
  std::vector<double> performance;     // accesses per cycle of an SM
  std::vector<double> estimated_hits;  // lines of an SM that hit according to shadow tags
  /// Extra cycles of all loads of an SM through the L1, compared with a warp alone. NaN if not
  /// measured; the last element is always there.
  std::vector<double> wait_cycles;
  double hit_gain_cycles = 0;  // miss latency minus hit latency of a warp alone
};

/// wait(L) / wait(N) = (L / N)^exponent.
struct PowerLaw {
  double exponent = 0;
  double r2 = 0;  // may be negative: then this is no power law
  std::size_t points = 0;
};

/// Least squares over the points L = 1..N of all sweeps with wait(N) >= `least_wait_cycles`, like
/// the paper's figure 4 for reservation failures. nullopt for fewer than four points. Not in
/// logarithms, since wait(L) may be 0 for small L.
std::optional<PowerLaw> fit_wait(std::span<const BypassSweep> sweeps, double least_wait_cycles);

/// R2 of this exponent over the same points of all sweeps with a wait; 0 if there are none.
double r2_of_wait(std::span<const BypassSweep> sweeps, double exponent);

/// Index in `cached` with most adjusted hits: hits - e x wait(N) / hit gain x (L / N)^exponent. Of
/// equal ones the last: do not bypass without benefit.
std::size_t choose_cached(const BypassSweep& sweep, double e, double exponent);

/// Index of the best performance; the last one within `tolerance` (a fraction) of it.
std::size_t best_cached(const BypassSweep& sweep, double tolerance);

/// The weight e of congestion that loses least performance, mean over the sweeps; of equal ones the
/// nearest to 0.5 (the paper's). Tries 0.05 to 2 (paper: 0.3 to 0.7).
/// @pre not empty
double learn_e(std::span<const BypassSweep> sweeps, double exponent);

}  // namespace sonde
