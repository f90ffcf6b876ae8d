// Medians and counts over the passes of a chase.
#include "analysis/structure/latency/chase_latencies.hpp"

#include "analysis/statistics.hpp"

#include <algorithm>
#include <limits>

namespace sonde {

std::vector<double> position_medians(const ChaseLatencies& chase) {
  const std::size_t passes = chase.passes();
  std::vector<double> medians(chase.positions);
  std::vector<double> column(passes);
  for (std::size_t position = 0; position < chase.positions; ++position) {
    for (std::size_t pass = 0; pass < passes; ++pass) {
      column[pass] = chase.cycles[pass * chase.positions + position];
    }
    medians[position] = passes == 1 ? column[0] : median_in_place(column);
  }
  return medians;
}

std::vector<bool> positions_between(const ChaseLatencies& chase, double low_cycles,
                                    double high_cycles, std::size_t least_passes) {
  std::vector<std::size_t> counts(chase.positions, 0);
  for (std::size_t i = 0; i < chase.cycles.size(); ++i) {
    const double cycles = chase.cycles[i];
    if (cycles > low_cycles && cycles <= high_cycles) ++counts[i % chase.positions];
  }
  std::vector<bool> flags(chase.positions);
  for (std::size_t i = 0; i < chase.positions; ++i) flags[i] = counts[i] >= least_passes;
  return flags;
}

std::vector<bool> positions_above(const ChaseLatencies& chase, double threshold_cycles,
                                  std::size_t least_passes) {
  return positions_between(chase, threshold_cycles, std::numeric_limits<double>::infinity(),
                           least_passes);
}

HitBoundary find_hit_boundary(const std::vector<bool>& hits) {
  HitBoundary boundary{.positions = hits.size()};
  double sum = 0;
  double best = 0;
  for (std::size_t i = 0; i < hits.size(); ++i) {
    sum += hits[i] ? 0.5 : -0.5;
    if (sum > best) {
      best = sum;
      boundary.position = i + 1;
    }
  }
  // At the ends of the positions it separates nothing: the hits end outside, if at all.
  const std::size_t to_both_ends = hits.size() / 64;
  if (boundary.position <= to_both_ends || boundary.position + to_both_ends >= hits.size())
    return boundary;
  std::size_t agreeing = 0;
  for (std::size_t i = 0; i < hits.size(); ++i) {
    agreeing += hits[i] == (i < boundary.position) ? 1 : 0;
  }
  boundary.agreement = static_cast<double>(agreeing) / static_cast<double>(hits.size());
  return boundary;
}

std::size_t count_set(const std::vector<bool>& flags) {
  return static_cast<std::size_t>(std::ranges::count(flags, true));
}

double fraction_above(const ChaseLatencies& chase, double threshold_cycles) {
  if (chase.cycles.empty()) return 0;
  const auto above =
      std::ranges::count_if(chase.cycles, [=](double cycles) { return cycles > threshold_cycles; });
  return static_cast<double>(above) / static_cast<double>(chase.cycles.size());
}

}  // namespace sonde
