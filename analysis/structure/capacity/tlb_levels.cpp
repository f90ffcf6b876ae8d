// Rises of the cost that a notable share of pages has.
#include "analysis/structure/capacity/tlb_levels.hpp"

#include "analysis/statistics.hpp"

#include <algorithm>
#include <iterator>

namespace sonde {
namespace {

// Dense chases meet a new entry of 16 MiB in one place of 64.
constexpr double least_share = 0.004;
// Misses as rare as this may be switches between page-table windows (512 MiB on Kepler
// and Maxwell). No entry known covers more than 32 MiB.
constexpr std::uint64_t rarest_miss_bytes = 128ULL << 20;
constexpr double common_quantile = 0.97;
// So many pages, all of them within the reach of any first level, show the noise.
constexpr std::size_t noise_pages = 28;
// An outer level costs at least this much more (twice, on every GPU published): less is the spread
// of the same level over more samples.
constexpr double least_ratio = 1.3;

std::vector<double> costs_above(const std::vector<double>& costs, double threshold_cycles) {
  std::vector<double> above;
  std::copy_if(costs.begin(), costs.end(), std::back_inserter(above),
               [=](double cost) { return cost > threshold_cycles; });
  return above;
}

double share_above(const PageChaseCosts& chase, double threshold_cycles) {
  return static_cast<double>(costs_above(chase.cost_cycles, threshold_cycles).size()) /
         static_cast<double>(chase.cost_cycles.size());
}

/// Highest cost in the smallest chases, up to one that costs more throughout.
double find_noise(const std::vector<PageChaseCosts>& chases, double least_step_cycles) {
  double highest_cycles = 0;
  std::size_t pages = 0;
  for (const PageChaseCosts& chase : chases) {
    pages += chase.cost_cycles.size();
    if (pages > noise_pages) break;
    if (&chase != &chases.front() &&
        median(chase.cost_cycles) > highest_cycles + least_step_cycles) {
      break;
    }
    for (double cost : chase.cost_cycles) highest_cycles = std::max(highest_cycles, cost);
  }
  return highest_cycles;
}

}  // namespace

std::vector<TlbLevel> find_tlb_levels(const std::vector<PageChaseCosts>& chases,
                                      double least_step_cycles) {
  std::vector<TlbLevel> levels;
  double plateau_cycles = find_noise(chases, least_step_cycles);
  double ratio = 1;
  for (std::size_t i = 0; i < chases.size(); ++i) {
    const double least_cycles = plateau_cycles * ratio + least_step_cycles;
    const std::vector<double> above = costs_above(chases[i].cost_cycles, least_cycles);
    const auto pages = static_cast<double>(chases[i].cost_cycles.size());
    if (above.empty() || static_cast<double>(above.size()) < least_share * pages) continue;
    // One more where the chase begins anew.
    if (above.size() <= chases[i].span_bytes / rarest_miss_bytes + 1) continue;
    TlbLevel level;
    level.penalty_cycles = median(above);
    level.threshold_cycles = (plateau_cycles + level.penalty_cycles) / 2;
    level.overflowing_bytes = chases[i].span_bytes;
    // Where misses begin to show, not every entry may be pushed out yet.
    if (i + 1 < chases.size() && share_above(chases[i + 1], level.threshold_cycles) >
                                     2 * share_above(chases[i], level.threshold_cycles)) {
      level.overflowing_bytes = chases[i + 1].span_bytes;
    }
    for (std::size_t j = i; j-- > 0;) {
      if (!costs_above(chases[j].cost_cycles, level.threshold_cycles).empty()) continue;
      level.fitting_bytes = chases[j].span_bytes;
      break;
    }
    levels.push_back(level);
    plateau_cycles = quantile(above, common_quantile);
    ratio = least_ratio;
  }
  return levels;
}

}  // namespace sonde
