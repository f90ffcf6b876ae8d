// From the first question to the size: fetch, coarse bound, line, then the exact bound by the way
// that the number of lines allows. The result goes to jobs/sets and jobs/cache/report.
#include "jobs/cache/geometry.hpp"

#include "base/units.hpp"
#include "jobs/cache/capacity.hpp"
#include "jobs/cache/fetch.hpp"
#include "jobs/cache/line_by_conflicts.hpp"
#include "jobs/cache/line_by_footprint.hpp"

#include <fmt/format.h>

namespace sonde {
namespace {

// Below this contrast, or in so small a cache, chases over parts of lines prove little.
constexpr double clear_contrast = 0.5;
constexpr std::uint64_t few_lines = 64;
// Of a step there are outliers alone on the wrong side, one in ten thousand or a few; caches with a
// hashed index or random replacement have whole per cents.
constexpr double step_agreement = 0.998;

/// Line and contrast, once bound and fetch are known.
void settle_line(const CacheUnderTest& cache, CacheGeometry& geometry) {
  const std::uint64_t coarse_size_bytes = geometry.bound.fitting_bytes;
  const LineByFootprint line =
      measure_line_by_footprint(cache, coarse_size_bytes, geometry.fetch.bytes);
  geometry.line_bytes = line.bytes;
  geometry.line_contrast = line.contrast;
  const bool is_clear =
      line.contrast >= clear_contrast && coarse_size_bytes / line.bytes >= few_lines;
  if (is_clear || cache.inner || cache.space_bytes > 0 || is_large(geometry.bound, line.bytes)) {
    return;
  }
  const auto conflicts = measure_line_by_conflicts(cache, coarse_size_bytes, geometry.fetch.bytes);
  if (!conflicts) return;
  geometry.line_bytes = conflicts->bytes;
  geometry.line_contrast = 2 * conflicts->agreement - 1;
}

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
                         coarse.fitting_bytes == 0 ? "overflows" : "fits",
                         format_bytes(static_cast<double>(met_bytes)));
    return std::nullopt;
  }
  CacheGeometry geometry{.bound = coarse, .fetch = *fetch};
  settle_line(cache, geometry);
  return geometry;
}

void measure_size(const CacheUnderTest& cache, CacheGeometry& geometry) {
  const std::uint64_t line_bytes = geometry.line_bytes;
  CapacityBound& bound = geometry.bound;
  if (!is_large(bound, line_bytes)) {
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
  geometry.half_lost_bytes = measure_half_lost(cache, bound, line_bytes).fitting_bytes;
}

}  // namespace sonde
