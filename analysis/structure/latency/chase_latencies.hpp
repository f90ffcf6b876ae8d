// The latencies that a chase measured: where all inference on caches and TLBs starts.
#pragma once

#include <cstddef>
#include <vector>

namespace sonde {

/// Latencies of a list of positions, accessed in several passes; without the clock's overhead.
struct ChaseLatencies {
  std::size_t positions = 0;
  std::vector<double> cycles;  // pass by pass, `positions` values each

  std::size_t passes() const { return positions == 0 ? 0 : cycles.size() / positions; }
};

/// Median of each position over the passes, which removes single outliers.
std::vector<double> position_medians(const ChaseLatencies& chase);

/// For each position, whether it was above the threshold in at least `least_passes` passes. An
/// outlier does not repeat at a position, a miss does.
std::vector<bool> positions_above(const ChaseLatencies& chase, double threshold_cycles,
                                  std::size_t least_passes);

/// The same between two bounds: if misses lie close together, most outliers lie outside.
std::vector<bool> positions_between(const ChaseLatencies& chase, double low_cycles,
                                    double high_cycles, std::size_t least_passes);

/// A return pass: accesses the lines of a fill in reverse order. Lines that stayed come first.
struct HitBoundary {
  std::size_t position = 0;  // first position after the hits
  std::size_t positions = 0;
  double agreement = 0;  // fraction of positions on the right side; 1 if the hits end in a step
};

/// The position that best separates hits before it from misses after it. agreement is 0 if it lies
/// at either end of the positions.
HitBoundary find_hit_boundary(const std::vector<bool>& hits);

std::size_t count_set(const std::vector<bool>& flags);

/// Share of all accesses above the threshold, 0..1. 0 if there are none.
double fraction_above(const ChaseLatencies& chase, double threshold_cycles);

}  // namespace sonde
