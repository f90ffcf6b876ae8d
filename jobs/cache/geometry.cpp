// From the fetch to the size: fetch, coarse bound, line, then the exact bound by a method that
// suits the number of lines. The result goes to jobs/sets and jobs/cache/report.
#include "jobs/cache/geometry.hpp"

#include "analysis/structure/capacity/capacity_search.hpp"
#include "base/gpu_facts.hpp"
#include "base/units.hpp"
#include "jobs/cache/capacity.hpp"
#include "jobs/cache/fetch_and_line.hpp"
#include "jobs/chase/cache_under_test.hpp"
#include "jobs/run/replicates.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <set>

namespace sonde {
namespace {

/// The line where hits end on the return pass after a fill, near a coarse bound: the exact bound of
/// a cache under LRU or FIFO that is too large for single footprints.
HitBoundary measure_return_boundary(const CacheUnderTest& cache, const CapacityBound& coarse,
                                    std::uint64_t line_bytes) {
  // A sixteenth beyond both ends of the bracket, which is a thirty-second wide.
  const std::uint64_t from_bytes = scale_span(coarse.fitting_bytes, 15.0 / 16, line_bytes);
  const std::uint64_t to_bytes = scale_span(coarse.overflowing_bytes, 17.0 / 16, line_bytes);
  // A multiple of a way, which is a power of two, so that every set gets equally many lines.
  const std::uint64_t ways_bytes = std::bit_floor(coarse.overflowing_bytes) / 4;
  const std::uint64_t fill_bytes =
      (coarse.overflowing_bytes / 2 * 3 + ways_bytes - 1) / ways_bytes * ways_bytes;
  const ChasePlan plan{.offsets = fill_and_return(fill_bytes, to_bytes, line_bytes),
                       .warmup_passes = 0,
                       .skipped = (fill_bytes + from_bytes) / line_bytes};
  const ChaseLatencies chase = measure_chase(cache, "return pass", plan);
  std::vector<bool> hits = positions_above(chase, cache.threshold_cycles, 1);
  hits.flip();
  HitBoundary boundary = find_hit_boundary(hits);
  boundary.position += from_bytes / line_bytes;
  return boundary;
}

/// The cache at another place in memory, on another SM and in other orders.
CacheUnderTest elsewhere(const CacheUnderTest& cache, const char* what, std::uint64_t number) {
  CacheUnderTest other = cache;
  const Draw draw = draw_replicate(cache.run, cache.name + what, number);
  other.chase = at_draw(cache.chase, draw);
  other.seed = draw.seed;
  return other;
}

/// The bound of a large cache, if hits end in a step and do so at the same place on another SM and
/// in other pages; pages of one place may fill the sets evenly by chance. Each line of the second
/// return pass is a prediction; empty if the steps differ.
TriedBound find_step(const CacheUnderTest& cache, const CapacityBound& coarse,
                     std::uint64_t line_bytes) {
  // At a step only outliers lie on the wrong side, a few in ten thousand. Caches with a hashed
  // index or random replacement have several per cent there.
  constexpr double step_agreement = 0.998;
  constexpr double tolerance = 1.0 / 256;
  const HitBoundary seen = measure_return_boundary(cache, coarse, line_bytes);
  if (seen.agreement <= step_agreement) return {};
  const HitBoundary again =
      measure_return_boundary(elsewhere(cache, " step", 1), coarse, line_bytes);
  const auto position = static_cast<double>(seen.position);
  if (again.agreement <= step_agreement ||
      std::abs(static_cast<double>(again.position) - position) > tolerance * position) {
    return {};
  }
  const std::uint64_t fitting_bytes = seen.position * line_bytes;
  const double right = std::round(again.agreement * static_cast<double>(again.positions));
  return {{fitting_bytes, fitting_bytes + line_bytes},
          {.asked = again.positions, .right = static_cast<std::uint64_t>(right)}};
}

/// Whether more lines survive a longer fill than the largest fitting footprint has. Then that
/// footprint overflowed some sets before others were full, and is not the size. A chase fills
/// upwards and returns downwards; the misses of the return pass count.
bool keeps_more(const CacheUnderTest& cache, const CapacityBound& bound, std::uint64_t line_bytes) {
  constexpr std::uint64_t by_chance = 512;  // one line in this many
  for (const double factor : {1.5, 3.0}) {
    const std::uint64_t fill_bytes =
        std::min(scale_span(bound.fitting_bytes, factor, line_bytes), cache.end_bytes());
    const std::uint64_t step_bytes = touch_step(cache, fill_bytes, line_bytes);
    const ChasePlan plan{.offsets = fill_and_return(fill_bytes, fill_bytes, step_bytes),
                         .warmup_passes = 0,
                         .skipped = fill_bytes / step_bytes,
                         .passes = 3};
    const ChaseLatencies chase = measure_chase(cache, "residents", plan);
    const std::vector<bool> missing = positions_above(chase, cache.threshold_cycles, 2);
    // Accesses may lie closer than lines: of a lost line the first access misses, or all of them if
    // a miss brings less than a line.
    std::set<std::uint64_t> gone;
    for (std::size_t i = 0; i < missing.size(); ++i)
      if (missing[i]) gone.insert(plan.offsets[plan.skipped + i] / line_bytes);
    const std::uint64_t found_bytes = fill_bytes - std::min(fill_bytes, gone.size() * line_bytes);
    const std::uint64_t most_bytes = bound.overflowing_bytes - line_bytes;
    if (found_bytes > most_bytes + most_bytes / by_chance) return true;
  }
  return false;
}

/// The range of the first lost lines on other SMs, at other places and in other orders.
CacheGeometry spread_of_draws(const CacheUnderTest& cache, CacheGeometry geometry) {
  constexpr std::uint64_t draws = 3;
  constexpr double near = 1.0 / 8;  // on both sides of the first bracket
  const auto low = static_cast<double>(geometry.bound.fitting_bytes);
  const auto high = static_cast<double>(geometry.bound.overflowing_bytes);
  Interval& spread = geometry.spread.emplace(low, high);
  geometry.footprints = {.asked = draws};
  for (std::uint64_t number = 1; number <= draws; ++number) {
    const CapacityBound bound =
        measure_coarse_bound_near(elsewhere(cache, " size", number), geometry.bound,
                                  std::max(geometry.line_bytes, common_line_bytes));
    // A disturbed draw counts as a failed prediction and does not widen the range.
    const bool is_near = static_cast<double>(bound.overflowing_bytes) > (1 - near) * low &&
                         static_cast<double>(bound.fitting_bytes) < (1 + near) * high;
    if (!is_near || bound.fitting_bytes == 0) continue;
    ++geometry.footprints.right;
    spread.low = std::min(spread.low, static_cast<double>(bound.fitting_bytes));
    spread.high = std::max(spread.high, static_cast<double>(bound.overflowing_bytes));
  }
  return geometry;
}

}  // namespace

std::optional<CacheGeometry> measure_geometry(const CacheUnderTest& of, std::string& reason) {
  CacheUnderTest cache = of;
  const auto fetch = measure_fetch(cache);
  if (!fetch) {
    reason = "a first access to every word of some lines missed fewer than twice";
    return std::nullopt;
  }
  const std::uint64_t unit_bytes = std::max(fetch->bytes, access_bytes(cache.chase.path));
  cache.outlier_share = most_outlier_share(cache, unit_bytes);
  const CapacityBound coarse = measure_coarse_bound(cache, unit_bytes);
  if (coarse.fitting_bytes == 0 || coarse.overflowing_bytes == 0) {
    const std::uint64_t met_bytes = std::max(coarse.fitting_bytes, coarse.overflowing_bytes);
    reason = fmt::format("every footprint {}, the last one had {}",
                         coarse.fitting_bytes == 0 ? "overflows" : "fits", format_bytes(met_bytes));
    return std::nullopt;
  }
  const LineLength line = measure_line(cache, coarse.fitting_bytes, unit_bytes);
  const bool is_a_block = line.bytes == access_bytes(cache.chase.path);
  return CacheGeometry{.fetch = *fetch,
                       .line_bytes = line.bytes,
                       .line_confidence = line.contrast,
                       .bound = coarse,
                       .outlier_share = cache.outlier_share,
                       .hides_lines = is_a_block && fetch->bytes < line.bytes};
}

CacheGeometry measure_size(const CacheUnderTest& of, CacheGeometry geometry) {
  constexpr std::uint64_t most_asked_lines = 65536;  // if there are more, a return pass is used
  CacheUnderTest cache = of;
  cache.outlier_share = geometry.outlier_share;
  const std::uint64_t line_bytes = geometry.line_bytes;
  if (geometry.bound.fitting_bytes / line_bytes > most_asked_lines) {
    const TriedBound step = find_step(cache, geometry.bound, line_bytes);
    if (!step.tried.bear_out()) return spread_of_draws(cache, std::move(geometry));
    geometry.bound = step.bound;
    geometry.footprints = step.tried;
    return geometry;
  }
  for (const std::uint64_t settling_passes : {cache.settling_passes, slow_settling_passes}) {
    cache.settling_passes = settling_passes;
    const TriedBound found = find_tried_bound(cache, geometry.bound, line_bytes);
    if (!found.tried.bear_out() || keeps_more(cache, found.bound, line_bytes)) continue;
    geometry.bound = found.bound;
    geometry.footprints = found.tried;
    return geometry;
  }
  return spread_of_draws(of, std::move(geometry));
}

std::string why_too_many_lines(std::uint64_t lines) {
  constexpr std::uint64_t most_lines = 1 << 17;
  if (lines <= most_lines) return {};
  return fmt::format(
      "{} lines: a chase that overfills a set accesses most of them, hundreds of such chases take "
      "minutes; physical addresses hide the index",
      lines);
}

}  // namespace sonde
