// Looks for rises of the cost in a notable share of the pages.
#include "analysis/structure/capacity/tlb_levels.hpp"

#include "analysis/statistics.hpp"

#include <algorithm>
#include <iterator>
#include <span>

namespace sonde {
namespace {

// In a dense chase only one access in 64 reaches a new entry of 16 MiB.
constexpr double least_share = 0.004;
// Rarer misses may be switches between page-table windows (512 MiB on Kepler and Maxwell).
constexpr std::uint64_t rarest_miss_bytes = 128ULL << 20;
constexpr double common_quantile = 0.97;
// This many pages nearly always lie within the reach of a first level; they show the noise.
constexpr std::size_t noise_pages = 28;
// If a larger share of a chase costs more than all chases before, it exceeds the first level.
constexpr double most_noisy_share = 0.15;
// An outer level costs at least this much more (on every published GPU twice as much); a smaller
// ratio is the spread of the same level over more samples.
constexpr double least_ratio = 1.3;

std::vector<double> costs_above(const std::vector<double>& costs, double threshold_cycles) {
  std::vector<double> above;
  std::ranges::copy_if(costs, std::back_inserter(above),
                       [=](double cost) { return cost > threshold_cycles; });
  return above;
}

/// If one chase overflows two levels, the lower of the two groups of costs: most misses are those
/// of the outer level, and cost at least twice as much (as on every published GPU). Else all costs.
std::vector<double> costs_of_lowest_level(std::vector<double> above, double least_step_cycles) {
  constexpr std::size_t few_of_all = 12;  // this fraction may lie far from the others by chance
  constexpr double dearer = 2;
  std::ranges::sort(above);
  const std::size_t least = std::max<std::size_t>(3, above.size() / few_of_all);
  for (std::size_t i = least; 2 * i <= above.size(); ++i) {
    const double middle = above[i / 2];
    const bool parted = above[i] - above[i - 1] >= std::max(least_step_cycles, middle / 2);
    if (!parted || above[(i + above.size()) / 2] < dearer * middle) continue;
    above.resize(i);
    break;
  }
  return above;
}

std::size_t costs_below(const std::vector<double>& costs, double threshold_cycles) {
  return static_cast<std::size_t>(
      std::ranges::count_if(costs, [=](double cost) { return cost < threshold_cycles; }));
}

/// Noise of the costs of a chase: only noise makes costs negative, and raises others as much.
double noise_of(const PageChaseCosts& chase) {
  return std::max(0.0, -quantile(chase.cost_cycles, 1 - common_quantile));
}

double share_above(const PageChaseCosts& chase, double threshold_cycles) {
  return static_cast<double>(costs_above(chase.cost_cycles, threshold_cycles).size()) /
         static_cast<double>(chase.cost_cycles.size());
}

/// Highest cost in the smallest chases, before the first chase of which a notable share costs more.
double find_noise(const std::vector<PageChaseCosts>& chases, double least_step_cycles) {
  double highest_cycles = 0;
  std::size_t pages = 0;
  for (const PageChaseCosts& chase : chases) {
    pages += chase.cost_cycles.size();
    if (pages > noise_pages) break;
    if (&chase != &chases.front() &&
        share_above(chase, highest_cycles + least_step_cycles) > most_noisy_share) {
      break;
    }
    for (double cost : chase.cost_cycles) highest_cycles = std::max(highest_cycles, cost);
  }
  return highest_cycles;
}

/// True if in a longer chase a notable share of pages costs more than the plateau, but far less
/// than here: then the data caches had lost lines of this chase.
bool is_undercut(std::span<const PageChaseCosts> longer, const std::vector<double>& above,
                 double plateau_cycles, double least_step_cycles) {
  return std::ranges::any_of(longer, [&](const PageChaseCosts& chase) {
    const double least_cycles = std::max(plateau_cycles, noise_of(chase)) + least_step_cycles;
    const std::vector<double> later = costs_above(chase.cost_cycles, least_cycles);
    const auto pages = static_cast<double>(chase.cost_cycles.size());
    return static_cast<double>(later.size()) >= least_share * pages &&
           median(later) * least_ratio < median(above);
  });
}

/// True if a chase of twice the span has less than half as many such pages: then some pages of this
/// chase only lay further away (three by 6 cycles, in one of 26 runs on an H200). If a level
/// overflowed, at least as many would miss.
bool is_gone(std::span<const PageChaseCosts> longer, std::size_t above, double least_cycles) {
  return !longer.empty() &&
         2 * costs_above(longer.front().cost_cycles, least_cycles).size() < above;
}

/// True if the last chase may only cross page-table windows: it has few such costs, and the chase
/// before has them at the same distances, although a level that still fits would have none.
bool may_cross_windows(std::span<const PageChaseCosts> chases, std::size_t above,
                       double least_cycles) {
  constexpr double few_switches = 2;  // at the start of the chase, and at its end
  const PageChaseCosts& last = chases.back();
  if (above > last.span_bytes / rarest_miss_bytes + 1) return false;
  if (chases.size() == 1) return true;
  const PageChaseCosts& before = chases[chases.size() - 2];
  const double expected = static_cast<double>(above) * static_cast<double>(before.span_bytes) /
                          static_cast<double>(last.span_bytes);
  const auto seen = static_cast<double>(costs_above(before.cost_cycles, least_cycles).size());
  return seen + few_switches >= expected / 2;
}

/// The top of a level's costs, without lines that the data caches had lost.
double find_plateau(std::vector<double> above, double penalty_cycles, double least_step_cycles) {
  std::erase_if(
      above, [&](double cost) { return cost > penalty_cycles * least_ratio + least_step_cycles; });
  return quantile(above, common_quantile);
}

/// True if a notable share of the pages costs as much as a miss of the level.
bool costs_so_much(const PageChaseCosts& chase, const TlbLevel& level, double least_step_cycles) {
  std::vector<double> costs = costs_above(chase.cost_cycles, level.threshold_cycles);
  std::erase_if(costs, [&](double cost) {
    return cost > level.penalty_cycles * least_ratio + least_step_cycles;
  });
  const auto pages = static_cast<double>(chase.cost_cycles.size());
  return costs.size() > 1 && static_cast<double>(costs.size()) >= least_share * pages;
}

}  // namespace

std::vector<TlbLevel> find_tlb_levels(const std::vector<PageChaseCosts>& chases,
                                      double least_step_cycles) {
  std::vector<TlbLevel> levels;
  double plateau_cycles = find_noise(chases, least_step_cycles);
  double ratio = 1;
  const PageChaseCosts* first_misses = nullptr;  // of the level before
  for (std::size_t i = 0; i < chases.size(); ++i) {
    const double least_cycles =
        std::max(plateau_cycles * ratio, noise_of(chases[i])) + least_step_cycles;
    const std::vector<double> all_above = costs_above(chases[i].cost_cycles, least_cycles);
    const std::vector<double> above = costs_of_lowest_level(all_above, least_step_cycles);
    const auto pages = static_cast<double>(chases[i].cost_cycles.size());
    if (above.empty() || static_cast<double>(above.size()) < least_share * pages) continue;
    // As many costs lie far below zero: in these pairs of accesses either one lost its line.
    if (above.size() <= costs_below(chases[i].cost_cycles, -least_cycles)) continue;
    if (is_gone(std::span(chases).subspan(i + 1), above.size(), least_cycles)) continue;
    if (may_cross_windows(std::span(chases).first(i + 1), above.size(), least_cycles)) continue;
    if (is_undercut(std::span(chases).subspan(i + 1), above, plateau_cycles * ratio,
                    least_step_cycles)) {
      continue;
    }
    TlbLevel level;
    level.penalty_cycles = median(above);
    level.threshold_cycles = (plateau_cycles + level.penalty_cycles) / 2;
    level.overflowing_bytes = chases[i].span_bytes;
    // At the first misses some entries may remain: if far more miss next, that span counts.
    constexpr double notably_more = 1.5;
    if (i + 1 < chases.size() &&
        share_above(chases[i + 1], level.threshold_cycles) >
            notably_more * share_above(chases[i], level.threshold_cycles)) {
      level.overflowing_bytes = chases[i + 1].span_bytes;
    }
    for (std::size_t j = i; j-- > 0;) {
      if (!costs_above(chases[j].cost_cycles, level.threshold_cycles).empty()) continue;
      level.fitting_bytes = chases[j].span_bytes;
      break;
    }
    const bool is_second_here = first_misses == &chases[i];
    if (!is_second_here && first_misses != nullptr &&
        costs_so_much(*first_misses, level, least_step_cycles)) {
      continue;
    }
    first_misses = &chases[i];
    levels.push_back(level);
    plateau_cycles = find_plateau(above, level.penalty_cycles, least_step_cycles);
    ratio = least_ratio;
    if (!is_second_here && above.size() < all_above.size())
      --i;  // this chase also shows the next level
  }
  return levels;
}

}  // namespace sonde
