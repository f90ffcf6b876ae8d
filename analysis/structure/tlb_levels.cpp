// Rises of the cost that a notable share of pages has.
#include "analysis/structure/tlb_levels.hpp"

#include "analysis/statistics.hpp"

#include <algorithm>

namespace sonde {
namespace {

// Steps of 256 KiB meet a new entry of up to 8 MiB in one place of 32; windows of active page
// tables (512 MiB) are crossed in far fewer.
constexpr double common_quantile = 0.97;

// A farther level costs at least this much more (twice, on every GPU published): less is the spread
// of the same level over more samples.
constexpr double least_ratio = 1.3;

bool any_above(const std::vector<double>& costs, double threshold_cycles) {
  return std::any_of(costs.begin(), costs.end(),
                     [=](double cost) { return cost > threshold_cycles; });
}

}  // namespace

std::vector<TlbLevel> find_tlb_levels(const std::vector<PageWalkCosts>& walks,
                                      double least_step_cycles) {
  std::vector<TlbLevel> levels;
  double plateau_cycles = 0;
  for (std::size_t i = 0; i < walks.size(); ++i) {
    const double cost_cycles = quantile(walks[i].cost_cycles, common_quantile);
    if (cost_cycles < plateau_cycles * least_ratio + least_step_cycles) continue;
    TlbLevel level;
    level.penalty_cycles = cost_cycles;
    level.threshold_cycles = (plateau_cycles + cost_cycles) / 2;
    level.overflowing_bytes = walks[i].span_bytes;
    for (std::size_t j = i; j-- > 0;) {
      if (any_above(walks[j].cost_cycles, level.threshold_cycles)) continue;
      level.fitting_bytes = walks[j].span_bytes;
      break;
    }
    levels.push_back(level);
    plateau_cycles = cost_cycles;
  }
  return levels;
}

}  // namespace sonde
