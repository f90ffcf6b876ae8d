// Medians and counts over the passes of a walk.
#include "analysis/structure/walk_latencies.hpp"

#include "analysis/statistics.hpp"

#include <algorithm>

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

std::vector<bool> positions_above(const WalkLatencies& walk, double threshold_cycles,
                                  std::size_t least_passes) {
  std::vector<std::size_t> counts(walk.positions, 0);
  for (std::size_t i = 0; i < walk.cycles.size(); ++i) {
    if (walk.cycles[i] > threshold_cycles) ++counts[i % walk.positions];
  }
  std::vector<bool> flags(walk.positions);
  for (std::size_t i = 0; i < walk.positions; ++i) flags[i] = counts[i] >= least_passes;
  return flags;
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
