// First the cache before it, as the inner level of all chases through the L2; then who serves what
// misses in the L2; then the steps of jobs/cache/path_levels.
#include "jobs/cache/l2_behind_another.hpp"

#include "analysis/statistics.hpp"
#include "base/units.hpp"
#include "jobs/cache/geometry.hpp"
#include "jobs/cache/memory_side.hpp"
#include "jobs/cache/path_levels.hpp"
#include "jobs/run/clock_window.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace sonde {
namespace {

/// nullopt, with the reason, if chases do not tell its size and line.
std::optional<InnerCaches> measure_cache_before(const CacheUnderTest& l2, double threshold_cycles,
                                                std::string& reason) {
  // Sixteen times the largest such cache known (RDNA3: 256 KiB).
  constexpr std::uint64_t largest_footprint_bytes = 4_MiB;
  CacheUnderTest before = l2;
  before.name = l2.name + " inner level";
  before.threshold_cycles = threshold_cycles;
  before.limit_bytes = largest_footprint_bytes;
  auto geometry = measure_geometry(before, reason);
  if (!geometry) return std::nullopt;
  measure_size(before, *geometry);
  const auto size = static_cast<double>(geometry->size_bytes());
  const Interval range = geometry->size_interval().value_or(Interval{size, size});
  return InnerCaches{.size_bytes = static_cast<std::uint64_t>(range.high),
                     .line_bytes = geometry->line_bytes,
                     .threshold_cycles = threshold_cycles,
                     .asked_bytes = geometry->fetch.bytes};
}

/// What serves misses of the L2; nullopt, with the reason, if a cache does, but not most of them.
std::optional<LatencyClass> find_served_behind(const CacheUnderTest& l2, const LatencyClass& hits,
                                               const LatencyClass& memory, std::string& reason) {
  const auto chases = survey_spans(l2.run, l2.chase, l2.name + " span",
                                   {.from_bytes = 2 * l2.inner->size_bytes,
                                    .to_bytes = 8 * l2.inner->size_bytes,
                                    .step_bytes = l2.inner->asked_bytes,
                                    .memory_cycles = memory.low_cycles});
  auto side = find_between(chases, hits.high_cycles, memory.low_cycles);
  if (!side) return memory;
  if (side->serves_half()) return std::move(side->served);
  reason = fmt::format(
      "{:.0f} % of what misses takes {:.0f} cycles, longer than a hit of the L2 and "
      "less than from the memory, but of no footprint half",
      100 * side->share, median(side->served.cycles));
  return std::nullopt;
}

}  // namespace

std::string characterize_l2_behind_another(CacheUnderTest cache, const ServedLoads& served) {
  JobRun& run = cache.run;
  const LatencyClass before = class_of(served.before_l2);
  const LatencyClass hits = class_of(served.l2);
  run.report(found_median(cache.name + ".hit_latency_cycles", served.l2));
  std::string reason;
  cache.inner = measure_cache_before(cache, threshold_between(before, hits), reason);
  if (!cache.inner) return "of the cache before it: " + reason;
  const auto misses = find_served_behind(cache, hits, class_of(served.memory), reason);
  if (!misses) return reason;
  cache.threshold_cycles = threshold_between(hits, *misses);
  run.report(found_median(cache.name + ".miss_latency_cycles", misses->cycles));
  return characterize_behind_others(cache, {}).reason;
}

}  // namespace sonde
