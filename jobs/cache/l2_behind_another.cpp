// First the cache before it, as the inner level of all chases through the L2; then who serves what
// misses in the L2; then the steps of jobs/cache/path_levels.
#include "jobs/cache/l2_behind_another.hpp"

#include "analysis/statistics.hpp"
#include "analysis/structure/latency/latency_gaps.hpp"
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

/// Whether lines of a footprint that the near partition has room for are far all the same: then no
/// copies of them are kept there.
bool are_far_at_once(const CacheUnderTest& l2, const FootprintChase& smallest,
                     const LatencyClass& far) {
  constexpr double least_share = 0.1;
  std::vector<double> of_l2 = smallest.cycles;
  std::erase_if(of_l2, [&](double cycles) { return cycles <= l2.inner->threshold_cycles; });
  const auto later = std::ranges::count_if(
      of_l2, [&](double cycles) { return cycles >= far.low_cycles - least_hit_gap_cycles; });
  return static_cast<double>(later) > least_share * static_cast<double>(of_l2.size());
}

/// The latest hits of the L2, and what serves its misses.
struct HitsAndMisses {
  LatencyClass hits;
  LatencyClass misses;
};

/// Of several partitions with copies those of the near one; nullopt, with the reason, if a cache
/// serves misses, but not most of them.
/// @param far hits in another partition, if there is one
std::optional<HitsAndMisses> find_served_behind(const CacheUnderTest& l2, const LatencyClass& hits,
                                                const std::optional<LatencyClass>& far,
                                                const LatencyClass& memory, std::string& reason) {
  const auto chases = survey_spans(l2.run, l2.chase, l2.name + " span",
                                   {.from_bytes = 2 * l2.inner->size_bytes,
                                    .to_bytes = 8 * l2.inner->size_bytes,
                                    .step_bytes = l2.inner->asked_bytes,
                                    .memory_cycles = memory.low_cycles});
  if (far && are_far_at_once(l2, chases.front(), *far)) return HitsAndMisses{*far, memory};
  auto side = find_between(chases, hits.high_cycles, memory.low_cycles);
  if (!side) return HitsAndMisses{far.value_or(hits), memory};
  if (side->serves_half()) return HitsAndMisses{hits, std::move(side->served)};
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
  std::optional<LatencyClass> far;
  std::string no_whole;
  if (!served.far.empty()) {
    far = class_of(served.far);
    run.report(found_median(cache.name + ".far_hit_latency_cycles", served.far));
    no_whole = fmt::format(
        "lines that another SM has just loaded come after {:.0f} or {:.0f} cycles: one SM may fill "
        "one of several partitions",
        median(served.l2), median(served.far));
  }
  std::string reason;
  cache.inner = measure_cache_before(cache, threshold_between(before, hits), reason);
  if (!cache.inner) return "of the cache before it: " + reason;
  const auto levels = find_served_behind(cache, hits, far, class_of(served.memory), reason);
  if (!levels) return reason;
  cache.threshold_cycles = threshold_between(levels->hits, levels->misses);
  run.report(found_median(cache.name + ".miss_latency_cycles", levels->misses.cycles));
  return characterize_behind_others(cache, {}, no_whole).reason;
}

}  // namespace sonde
