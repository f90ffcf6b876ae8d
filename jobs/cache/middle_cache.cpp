// Latency classes of growing footprints below what the L2 takes: the first is the cache's own.
#include "jobs/cache/middle_cache.hpp"

#include "analysis/statistics.hpp"
#include "analysis/structure/latency/latency_classes.hpp"
#include "analysis/structure/latency/latency_gaps.hpp"
#include "base/gpu_facts.hpp"
#include "base/units.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace sonde {
namespace {

constexpr std::uint64_t smallest_footprint_bytes = 4_KiB;

std::vector<FootprintChase> chase_footprints(const CacheUnderTest& cache) {
  constexpr std::uint64_t enough = 1024;
  std::vector<FootprintChase> chases;
  for (std::uint64_t span_bytes = smallest_footprint_bytes; span_bytes <= 2 * cache.limit_bytes;
       span_bytes *= 2) {
    ChasePlan plan = steady_plan(cache.chase, span_bytes, common_line_bytes, cache.seed, enough);
    plan.offsets = page_by_page(std::move(plan.offsets));
    chases.push_back(
        {span_bytes, measure_chase(cache, fmt::format("levels {}", span_bytes), plan).cycles});
  }
  return chases;
}

}  // namespace

std::optional<double> threshold_before_middle(const CacheUnderTest& cache) {
  const std::vector<LatencyClass> classes =
      find_latency_classes(chase_footprints(cache), least_first_cache_gap_cycles);
  if (classes.size() < 2 || median(classes[1].cycles) >= cache.threshold_cycles) return {};
  return threshold_between(classes[0], classes[1]);
}

std::optional<double> threshold_of_common_cache(const CacheUnderTest& cache,
                                                const std::vector<double>& memory_cycles) {
  const std::vector<LatencyClass> classes =
      find_latency_classes(chase_footprints(cache), least_level_gap_cycles);
  if (classes.size() < 2) return {};
  const double soonest_memory = quantile(memory_cycles, 0.1) - least_memory_gap_cycles;
  if (median(classes[1].cycles) >= soonest_memory) return {};
  return threshold_between(classes[0], classes[1]);
}

}  // namespace sonde
