// From the first question to the size: fetch, coarse bound, line, then the exact bound by the way
// that the number of lines allows. The result goes to jobs/sets and jobs/cache/report.
#include "jobs/cache/geometry.hpp"

#include "analysis/statistics.hpp"
#include "base/units.hpp"
#include "jobs/cache/capacity.hpp"
#include "jobs/cache/fetch_and_line.hpp"
#include "jobs/run/replicates.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace sonde {
namespace {

// Of a step there are outliers alone on the wrong side, one in ten thousand or a few; caches with a
// hashed index or random replacement have whole per cents.
constexpr double step_agreement = 0.998;
/// Of a gradual transition, to see how far it moves with the place: an odd number of draws in all.
constexpr std::size_t further_draws = 4;

}  // namespace

std::optional<CacheGeometry> measure_geometry(const CacheUnderTest& cache, std::string& reason) {
  const auto fetch = measure_fetch(cache);
  if (!fetch) {
    reason = "a first access to every word of some lines missed fewer than twice";
    return std::nullopt;
  }
  const CapacityBound coarse = measure_coarse_bound(cache, fetch->bytes);
  if (coarse.fitting_bytes == 0 || coarse.overflowing_bytes == 0) {
    const std::uint64_t met_bytes = std::max(coarse.fitting_bytes, coarse.overflowing_bytes);
    reason = fmt::format("every footprint asked for {}, {} at last",
                         coarse.fitting_bytes == 0 ? "overflows" : "fits", format_bytes(met_bytes));
    return std::nullopt;
  }
  const LineLength line = measure_line(cache, coarse.fitting_bytes, fetch->bytes);
  return CacheGeometry{
      .bound = coarse, .line_bytes = line.bytes, .fetch = *fetch, .line_contrast = line.contrast};
}

void measure_size(const CacheUnderTest& cache, CacheGeometry& geometry) {
  const std::uint64_t line_bytes = geometry.line_bytes;
  CapacityBound& bound = geometry.bound;
  if (!is_large(bound.fitting_bytes, line_bytes)) {
    bound = measure_exact_bound(cache, bound, line_bytes);
    geometry.gradual = !holds_in_all_orders(cache, bound, line_bytes);
    if (geometry.gradual) return;
    geometry.residents_bytes = measure_residents(cache, bound.fitting_bytes, line_bytes);
    return;
  }
  const HitBoundary boundary = measure_return_boundary(cache, bound, line_bytes, {});
  if (boundary.agreement > step_agreement) {
    bound.fitting_bytes = boundary.position * line_bytes;
    bound.overflowing_bytes = bound.fitting_bytes + line_bytes;
    return;
  }
  geometry.gradual = true;
  const CapacityBound first = measure_half_lost(cache, bound, line_bytes);
  std::vector<double> draws{static_cast<double>(first.fitting_bytes)};
  geometry.half_lost_range = {draws.front(), static_cast<double>(first.overflowing_bytes)};
  for (std::size_t number = 1; number <= further_draws; ++number) {
    CacheUnderTest elsewhere = cache;
    const Draw draw = draw_replicate(cache.run, cache.name + " half lost", number);
    elsewhere.chase = at_draw(cache.chase, draw);
    elsewhere.seed = draw.seed;
    const CapacityBound half = measure_half_lost(elsewhere, bound, line_bytes);
    draws.push_back(static_cast<double>(half.fitting_bytes));
    geometry.half_lost_range.low = std::min(geometry.half_lost_range.low, draws.back());
    geometry.half_lost_range.high =
        std::max(geometry.half_lost_range.high, static_cast<double>(half.overflowing_bytes));
  }
  geometry.half_lost_bytes = static_cast<std::uint64_t>(median(draws)) / line_bytes * line_bytes;
  geometry.replicates = draws.size();
}

}  // namespace sonde
