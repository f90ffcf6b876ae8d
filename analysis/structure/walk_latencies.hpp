// What a walk through memory showed: the latency of each position in each pass. Every structural
// inference on caches and TLBs starts from this; it knows nothing of devices.
#pragma once

#include <cstddef>
#include <vector>

namespace sonde {

/// Latencies of a list of positions that was visited again and again, clock overhead subtracted.
struct WalkLatencies {
  std::size_t positions = 0;
  std::vector<double> cycles;  // pass after pass, `positions` values each

  std::size_t passes() const { return positions == 0 ? 0 : cycles.size() / positions; }
};

/// Median of each position over the passes: outliers of single accesses are gone.
std::vector<double> position_medians(const WalkLatencies& walk);

/// For each position whether it lay above the threshold in at least `least_passes` passes. One
/// outlier never repeats at the same position, a missing line does.
std::vector<bool> positions_above(const WalkLatencies& walk, double threshold_cycles,
                                  std::size_t least_passes);

std::size_t count_set(const std::vector<bool>& flags);

/// Share of all accesses above the threshold, 0..1. 0 if there are none.
double fraction_above(const WalkLatencies& walk, double threshold_cycles);

}  // namespace sonde
