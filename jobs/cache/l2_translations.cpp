// A chase over few lines all over the span of a supposed capacity: no L2 is too small for them.
#include "jobs/cache/l2_translations.hpp"

#include "analysis/statistics.hpp"
#include "analysis/structure/latency/latency_gaps.hpp"
#include "base/gpu_facts.hpp"
#include "base/random.hpp"
#include "base/units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace sonde {
namespace {

/// So few lines stay in every L2, wherever they lie: what they cost all over a span is the cost of
/// its translations.
std::vector<double> measure_few_lines(const CacheUnderTest& cache, std::uint64_t span_bytes) {
  constexpr std::uint64_t lines = 256;
  const std::uint64_t step_bytes =
      std::max(common_line_bytes, span_bytes / lines / common_line_bytes * common_line_bytes);
  Offsets offsets = shuffled_order(lines * step_bytes, step_bytes, cache.seed);
  Random random(derive_seed(cache.seed, "few lines"));
  for (std::uint64_t& offset : offsets)
    offset += random.below(step_bytes / common_line_bytes) * common_line_bytes;
  return position_medians(
      measure_chase(cache, fmt::format("few lines of {}", span_bytes),
                    {.offsets = std::move(offsets), .warmup_passes = 2, .passes = 4}));
}

}  // namespace

void look_past_translations(CacheUnderTest& cache, std::vector<double>& hits,
                            const std::vector<double>& misses,
                            std::optional<CacheGeometry>& geometry, std::string& reason) {
  constexpr int most_levels = 3;
  constexpr double least_rise = 0.1;  // of the way to the memory: below, hits spread as far
  for (int level = 0; level < most_levels && geometry; ++level) {
    const std::uint64_t span_bytes = geometry->bound.overflowing_bytes / 2 * 3;
    const std::vector<double> few = measure_few_lines(cache, span_bytes);
    const double highest_known = quantile(hits, 0.98);
    const double lowest_miss = quantile(misses, 0.10);
    if (median(few) < highest_known + least_rise * (lowest_miss - highest_known)) return;
    hits.insert(hits.end(), few.begin(), few.end());
    const double highest_hit = quantile(few, 0.98);
    if (highest_hit < cache.threshold_cycles) return;
    if (lowest_miss - highest_hit < least_memory_gap_cycles) {
      geometry.reset();
      reason = fmt::format(
          "256 lines over {} take {:.0f} cycles, as loads from the memory do: translations "
          "hide what the cache holds",
          format_bytes(static_cast<double>(span_bytes)), median(few));
      return;
    }
    cache.threshold_cycles = (highest_hit + lowest_miss) / 2;
    geometry = measure_geometry(cache, reason);
  }
}

}  // namespace sonde
