// Medians and counts over the passes of a walk.
#include "analysis/structure/walk_latencies.hpp"

#include "analysis/statistics.hpp"

#include <algorithm>
#include <limits>

namespace sonde {

std::vector<double> position_medians(const WalkLatencies& walk) {
  const std::size_t passes = walk.passes();
  std::vector<double> medians(walk.positions);
  std::vector<double> column(passes);
  for (std::size_t position = 0; position < walk.positions; ++position) {
    for (std::size_t pass = 0; pass < passes; ++pass) {
      column[pass] = walk.cycles[pass * walk.positions + position];
    }
    medians[position] = passes == 1 ? column[0] : median(column);
  }
  return medians;
}

std::vector<bool> positions_between(const WalkLatencies& walk, double low_cycles,
                                    double high_cycles, std::size_t least_passes) {
  std::vector<std::size_t> counts(walk.positions, 0);
  for (std::size_t i = 0; i < walk.cycles.size(); ++i) {
    const double cycles = walk.cycles[i];
    if (cycles > low_cycles && cycles <= high_cycles) ++counts[i % walk.positions];
  }
  std::vector<bool> flags(walk.positions);
  for (std::size_t i = 0; i < walk.positions; ++i) flags[i] = counts[i] >= least_passes;
  return flags;
}

std::vector<bool> positions_above(const WalkLatencies& walk, double threshold_cycles,
                                  std::size_t least_passes) {
  return positions_between(walk, threshold_cycles, std::numeric_limits<double>::infinity(),
                           least_passes);
}

HitBoundary find_hit_boundary(const std::vector<bool>& hits, double density) {
  HitBoundary boundary;
  double sum = 0;
  double best = 0;
  for (std::size_t i = 0; i < hits.size(); ++i) {
    sum += (hits[i] ? 1 : 0) - density / 2;
    if (sum > best) {
      best = sum;
      boundary.position = i + 1;
    }
  }
  for (std::size_t i = 0, gap = 0; i < boundary.position; ++i) {
    gap = hits[i] ? 0 : gap + 1;
    boundary.longest_gap = std::max(boundary.longest_gap, gap);
  }
  const auto first_behind = hits.begin() + static_cast<std::ptrdiff_t>(boundary.position);
  if (first_behind != hits.end()) {
    boundary.hits_behind = static_cast<double>(std::count(first_behind, hits.end(), true)) /
                           static_cast<double>(hits.end() - first_behind);
  }
  std::size_t agreeing = 0;
  for (std::size_t i = 0; i < hits.size(); ++i) {
    agreeing += hits[i] == (i < boundary.position) ? 1 : 0;
  }
  if (!hits.empty()) {
    boundary.agreement = static_cast<double>(agreeing) / static_cast<double>(hits.size());
  }
  return boundary;
}

std::size_t count_set(const std::vector<bool>& flags) {
  return static_cast<std::size_t>(std::count(flags.begin(), flags.end(), true));
}

double fraction_above(const WalkLatencies& walk, double threshold_cycles) {
  if (walk.cycles.empty()) return 0;
  const auto above = std::count_if(walk.cycles.begin(), walk.cycles.end(),
                                   [=](double cycles) { return cycles > threshold_cycles; });
  return static_cast<double>(above) / static_cast<double>(walk.cycles.size());
}

}  // namespace sonde
