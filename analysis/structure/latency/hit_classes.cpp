// The gap between hits and misses.
#include "analysis/structure/latency/hit_classes.hpp"

#include "analysis/statistics.hpp"
#include "analysis/structure/latency/latency_gaps.hpp"

namespace sonde {

std::optional<HitClasses> separate_hits(const std::vector<double>& hits,
                                        const std::vector<double>& misses,
                                        double least_gap_cycles) {
  if (hits.empty() || misses.empty()) return std::nullopt;
  const double highest_hit = quantile(hits, 0.98);
  const double lowest_miss = quantile(misses, 0.10);
  if (lowest_miss - highest_hit < least_gap_cycles) return std::nullopt;
  return HitClasses{.hit_cycles = median(hits),
                    .miss_cycles = median(misses),
                    .threshold_cycles = (highest_hit + lowest_miss) / 2};
}

MemoryLatency summarize_memory_latency(const std::vector<double>& cycles) {
  constexpr double least_share = 0.15;  // partitions hold half of the lines each
  const auto modes = find_modes(cycles, least_partition_gap_cycles, least_share);
  if (modes.size() != 2) return {.cycles = median(cycles)};
  return {.cycles = (modes[0].center + modes[1].center) / 2,
          .near_cycles = modes[0].center,
          .far_cycles = modes[1].center};
}

}  // namespace sonde
