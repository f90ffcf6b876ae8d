// Rises of the cost that a notable share of pages has.
#include "analysis/structure/capacity/tlb_levels.hpp"

#include "analysis/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>
#include <span>

namespace sonde {
namespace {

// Dense chases meet a new entry of 16 MiB in one place of 64.
constexpr double least_share = 0.004;
// Misses as rare as this may be switches between page-table windows (512 MiB on Kepler
// and Maxwell).
constexpr std::uint64_t rarest_miss_bytes = 128ULL << 20;
constexpr double common_quantile = 0.97;
// So many pages, nearly always within the reach of a first level, show the noise.
constexpr std::size_t noise_pages = 28;
// If more of a chase than this cost more than the chases before, it is beyond the first level.
constexpr double most_noisy_share = 0.15;
// An outer level costs at least this much more (twice, on every GPU published): less is the spread
// of the same level over more samples.
constexpr double least_ratio = 1.3;

std::vector<double> costs_above(const std::vector<double>& costs, double threshold_cycles) {
  std::vector<double> above;
  std::ranges::copy_if(costs, std::back_inserter(above),
                       [=](double cost) { return cost > threshold_cycles; });
  return above;
}

/// The lower of two groups of costs, where one chase overflows two levels: most of its misses are
/// those of the outer one, and twice as dear (as on every GPU published). Else all of them.
std::vector<double> costs_of_lowest_level(std::vector<double> above, double least_step_cycles) {
  constexpr std::size_t few_of_all = 12;  // one in so many may lie far from the others by chance
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

/// How far noise takes the costs of a chase up: as far as down, where nothing else takes them. It
/// is more where fewer lines were tried.
double noise_of(const PageChaseCosts& chase) {
  return std::max(0.0, -quantile(chase.cost_cycles, 1 - common_quantile));
}

double share_above(const PageChaseCosts& chase, double threshold_cycles) {
  return static_cast<double>(costs_above(chase.cost_cycles, threshold_cycles).size()) /
         static_cast<double>(chase.cost_cycles.size());
}

/// Highest cost in the smallest chases, up to one of which a part costs more.
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

/// Whether a notable share of a longer chase is above a cost, and most of it far cheaper: then the
/// pages of this one were lines that the data caches had lost.
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

/// Whether a chase of twice the span has far fewer pages that cost so much: then some pages of this
/// one only lay further away (three by 6 cycles, in one of 26 runs on an H200). Where a
/// level overflows, at least as many miss.
bool is_gone(std::span<const PageChaseCosts> longer, std::size_t above, double least_cycles) {
  return !longer.empty() &&
         2 * costs_above(longer.front().cost_cycles, least_cycles).size() < above;
}

/// Whether the last of these chases may cross page-table windows where it pays so much: rarely, and
/// the one before did so at the same distances, as the pages of a level do not that it still holds.
bool may_cross_windows(std::span<const PageChaseCosts> chases, std::size_t above,
                       double least_cycles) {
  constexpr double few_switches = 2;  // where a chase begins anew, and where its end is cut off
  const PageChaseCosts& last = chases.back();
  if (above > last.span_bytes / rarest_miss_bytes + 1) return false;
  if (chases.size() == 1) return true;
  const PageChaseCosts& before = chases[chases.size() - 2];
  const double expected = static_cast<double>(above) * static_cast<double>(before.span_bytes) /
                          static_cast<double>(last.span_bytes);
  const auto seen = static_cast<double>(costs_above(before.cost_cycles, least_cycles).size());
  return seen + few_switches >= expected / 2;
}

/// The top of a level's costs, without those of lines that the data caches had lost.
double find_plateau(std::vector<double> above, double penalty_cycles, double least_step_cycles) {
  std::erase_if(
      above, [&](double cost) { return cost > penalty_cycles * least_ratio + least_step_cycles; });
  return quantile(above, common_quantile);
}

/// Whether a notable share of pages costs as much as misses of the level.
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
    // Pairs of which either access lost its line.
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
    // Where misses begin to show, not every entry may be pushed out yet: in steps of less than an
    // entry twice as many do where a set of two was spared.
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
    if (!is_second_here && above.size() < all_above.size()) --i;  // this chase tells of another one
  }
  return levels;
}

}  // namespace sonde
