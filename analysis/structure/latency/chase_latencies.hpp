// What a chase through memory showed: the latency of each position in each pass. Every structural
// inference on caches and TLBs starts from this; it knows nothing of devices.
#pragma once

#include <cstddef>
#include <vector>

namespace sonde {

/// Latencies of a list of positions that was accessed again and again, clock overhead subtracted.
struct ChaseLatencies {
  std::size_t positions = 0;
  std::vector<double> cycles;  // pass after pass, `positions` values each

  std::size_t passes() const { return positions == 0 ? 0 : cycles.size() / positions; }
};

/// Median of each position over the passes: outliers of single accesses are gone.
std::vector<double> position_medians(const ChaseLatencies& chase);

/// For each position whether it lay above the threshold in at least `least_passes` passes. One
/// outlier never repeats at the same position, a missing line does.
std::vector<bool> positions_above(const ChaseLatencies& chase, double threshold_cycles,
                                  std::size_t least_passes);

/// The same between two bounds: where misses lie close together, most outliers lie elsewhere.
std::vector<bool> positions_between(const ChaseLatencies& chase, double low_cycles,
                                    double high_cycles, std::size_t least_passes);

/// A return pass: down through the lines that a fill has just gone up. Those still there come
/// first.
struct HitBoundary {
  std::size_t position = 0;  // first one behind the hits
  std::size_t positions = 0;
  double agreement = 0;  // share of positions that lie as they should: 1 where hits end in a step
};

/// The position that parts hits before it from misses behind it best. At either end of the
/// positions it parts nothing: agreement is 0 then.
HitBoundary find_hit_boundary(const std::vector<bool>& hits);

std::size_t count_set(const std::vector<bool>& flags);

/// Share of all accesses above the threshold, 0..1. 0 if there are none.
double fraction_above(const ChaseLatencies& chase, double threshold_cycles);

}  // namespace sonde
