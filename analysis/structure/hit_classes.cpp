// The gap between hits and misses.
#include "analysis/structure/hit_classes.hpp"

#include "analysis/statistics.hpp"

namespace sonde {

std::optional<HitClasses> separate_hits(const std::vector<double>& hits,
                                        const std::vector<double>& misses,
                                        double least_gap_cycles) {
  if (hits.empty() || misses.empty()) return std::nullopt;
  const double highest_hit = quantile(hits, 0.98);
  const double lowest_miss = quantile(misses, 0.10);
  if (lowest_miss - highest_hit < least_gap_cycles) return std::nullopt;
  return HitClasses{median(hits), median(misses), (highest_hit + lowest_miss) / 2};
}

}  // namespace sonde
