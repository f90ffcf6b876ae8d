// From the first question to the size: fetch, coarse bound, line, then the exact bound by the way
// that the number of lines allows. The result goes to jobs/sets and jobs/cache/report.
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

// One chase goes up through a fill and down again; of the way down the misses count.

/// Lines that are found again on the return pass after fills that grow until no more are found.
struct Residents {
  std::uint64_t bytes = 0;
  /// A longer fill leaves as many, as where the oldest line leaves and all sets are full. Else they
  /// are not all that the cache holds.
  bool stay = true;
  bool are_all_at_once = true;  // the shortest fill left as many as any other
  bool are_the_same = false;    // a longer fill leaves not a line less, as by chance hardly ever
};

/// Lines that the return pass over all of a fill finds again, times line_bytes.
std::uint64_t count_residents(const CacheUnderTest& cache, std::uint64_t fill_bytes,
                              std::uint64_t line_bytes) {
  const std::uint64_t step_bytes = touch_step(cache, fill_bytes, line_bytes);
  const ChasePlan plan{.offsets = fill_and_return(fill_bytes, fill_bytes, step_bytes),
                       .warmup_passes = 0,
                       .skipped = fill_bytes / step_bytes,
                       .passes = 3};
  const ChaseLatencies chase = measure_chase(cache, "residents", plan);
  const std::vector<bool> missing = positions_above(chase, cache.threshold_cycles, 2);
  // Accesses may lie closer than lines: of one that is gone the first misses, or, if a miss brings
  // less than a line, all do.
  std::set<std::uint64_t> gone;
  for (std::size_t i = 0; i < missing.size(); ++i)
    if (missing[i]) gone.insert(plan.offsets[plan.skipped + i] / line_bytes);
  return fill_bytes - std::min(fill_bytes, gone.size() * line_bytes);
}

/// The size of the cache also where its sets are of different size or fill unevenly, if it evicts
/// in order.
Residents measure_residents(const CacheUnderTest& cache, std::uint64_t size_bytes,
                            std::uint64_t line_bytes) {
  constexpr double by_outliers = 1.002;
  constexpr std::uint64_t most_lines = 1 << 20;
  const std::uint64_t end_bytes = std::min(cache.end_bytes(), cache.run.info().memory_bytes / 4);
  Residents residents;
  // A hashed index fills some sets long after others.
  for (const double factor : {1.5, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0, 16.0, 24.0, 32.0, 48.0}) {
    const std::uint64_t fill_bytes =
        std::min(scale_span(size_bytes, factor, line_bytes), end_bytes);
    const std::uint64_t found_bytes = count_residents(cache, fill_bytes, line_bytes);
    if (by_outliers * static_cast<double>(found_bytes) < static_cast<double>(residents.bytes)) {
      residents.stay = false;
    }
    if (found_bytes <= residents.bytes) {
      residents.are_the_same = found_bytes == residents.bytes;
      return residents;
    }
    residents.are_all_at_once = residents.bytes == 0;
    residents.bytes = found_bytes;
    if (fill_bytes == cache.end_bytes()) return residents;
    if (fill_bytes == end_bytes || fill_bytes / line_bytes > most_lines) break;
  }
  residents.stay = false;
  return residents;
}

/// Whether hardly a line of twice as many as the cache holds is found again in cyclic accesses: LRU
/// and FIFO leave none. True, too, where no such span can be asked for.
bool evicts_in_order(const CacheUnderTest& cache, std::uint64_t size_bytes,
                     std::uint64_t line_bytes) {
  // All sets overflow, and cyclic accesses then find nothing of what was evicted in order. Random
  // replacement leaves a line with the chance h = exp(-2 (1 - h)) that no miss of a pass takes its
  // place: one in five.
  constexpr double overfill = 2;
  constexpr double most_hits = 0.05;
  const std::uint64_t span_bytes = scale_span(size_bytes, overfill, line_bytes);
  if (span_bytes > cache.end_bytes()) return true;
  const ChasePlan plan{.offsets = ascending_order(span_bytes, line_bytes), .warmup_passes = 3};
  return measure_miss_fraction(cache, fmt::format("cycles of {}", span_bytes), plan) >=
         1 - most_hits;
}

/// The place where hits end on the return pass after a fill, near a coarse bound: the exact bound
/// of a cache too large to be asked for footprints, if it replaces in LRU or FIFO order. In lines.
HitBoundary measure_return_boundary(const CacheUnderTest& cache, const CapacityBound& coarse,
                                    std::uint64_t line_bytes) {
  // A sixteenth to both ends of a bracket that is a thirty-second wide.
  const std::uint64_t from_bytes = scale_span(coarse.fitting_bytes, 15.0 / 16, line_bytes);
  const std::uint64_t to_bytes = scale_span(coarse.overflowing_bytes, 17.0 / 16, line_bytes);
  // Whole ways, which are powers of two: then every set is filled as often as every other.
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

// Of a step there are outliers alone on the wrong side, one in ten thousand or a few; caches with a
// hashed index or random replacement have whole per cents.
constexpr double step_agreement = 0.998;
constexpr std::uint64_t by_chance = 512;  // one line in so many
/// Of a gradual transition, to see how far it moves with the place.
std::size_t further_draws(SuiteLevel level) { return level == SuiteLevel::quick ? 1 : 4; }

/// From the lowest to the highest place where a bound was met, on further SMs, at other places and
/// in other orders, too.
template <class Measure>
Interval range_of_draws(const CacheUnderTest& cache, CacheGeometry& geometry,
                        const CapacityBound& first, const Measure& measure) {
  Interval range{static_cast<double>(first.fitting_bytes),
                 static_cast<double>(first.overflowing_bytes)};
  const std::size_t draws = further_draws(cache.run.level());
  for (std::size_t number = 1; number <= draws; ++number) {
    CacheUnderTest elsewhere = cache;
    const Draw draw = draw_replicate(cache.run, cache.name + " size", number);
    elsewhere.chase = at_draw(cache.chase, draw);
    elsewhere.seed = draw.seed;
    const CapacityBound bound = measure(elsewhere);
    if (bound.fitting_bytes == 0 || bound.overflowing_bytes == 0) continue;
    range.low = std::min(range.low, static_cast<double>(bound.fitting_bytes));
    range.high = std::max(range.high, static_cast<double>(bound.overflowing_bytes));
  }
  geometry.replicates = draws + 1;
  return range;
}

/// Whether hits end in a step at the same place on another SM and in other pages: those of one
/// place may fill the sets evenly by chance.
bool holds_elsewhere(const CacheUnderTest& cache, const CapacityBound& bound,
                     std::uint64_t line_bytes, const HitBoundary& seen) {
  constexpr double tolerance = 1.0 / 256;
  CacheUnderTest elsewhere = cache;
  elsewhere.chase = at_draw(cache.chase, draw_replicate(cache.run, cache.name + " step", 1));
  const HitBoundary other = measure_return_boundary(elsewhere, bound, line_bytes);
  const auto position = static_cast<double>(seen.position);
  return other.agreement > step_agreement &&
         std::abs(static_cast<double>(other.position) - position) <= tolerance * position;
}

/// What random replacement keeps settles slowly: a footprint that would fit loses lines for many
/// passes, until each has found a way of its own. Whether the bound is exact once it has; else the
/// one seen then says more of the size. All that a miss fetches is accessed: lines came of chases
/// that had not settled either.
bool settle_bound(CacheUnderTest& cache, CacheGeometry& geometry) {
  constexpr std::uint64_t settling_passes = 24;
  constexpr double most_growth = 2;
  cache.settling_passes = settling_passes;
  const std::uint64_t unit_bytes = std::max(geometry.fetch.bytes, access_bytes(cache.chase.path));
  const CapacityBound coarse =
      measure_coarse_bound_near(cache, geometry.bound, unit_bytes, most_growth);
  if (coarse.fitting_bytes == 0 || coarse.overflowing_bytes == 0) return false;
  const CapacityBound settled = measure_exact_bound(cache, coarse, unit_bytes);
  if (settled.fitting_bytes < geometry.bound.fitting_bytes) return false;
  geometry.bound = settled;
  return holds_in_all_orders(cache, settled, unit_bytes);
}

/// The bound of first misses says little: those of all draws, and where half of the lines are lost.
/// @param cache with its settling passes
void bracket_size(const CacheUnderTest& cache, const CapacityBound& coarse,
                  CacheGeometry& geometry) {
  const std::uint64_t line_bytes = geometry.line_bytes;
  geometry.gradual = true;
  geometry.first_miss_range = range_of_draws(
      cache, geometry, geometry.bound,
      [&](const CacheUnderTest& at) { return measure_exact_bound(at, coarse, line_bytes); });
  const CapacityBound half = measure_half_lost(cache, geometry.bound, line_bytes);
  geometry.part_range = {geometry.first_miss_range.low,
                         static_cast<double>(half.overflowing_bytes)};
}

/// Footprints are asked for line by line.
void measure_small_size(const CacheUnderTest& cache, CacheGeometry& geometry) {
  const std::uint64_t line_bytes = geometry.line_bytes;
  CapacityBound& bound = geometry.bound;
  const CapacityBound coarse = bound;
  bound = measure_exact_bound(cache, coarse, line_bytes);
  const auto of_all_orders = find_bound_of_all_orders(cache, bound, line_bytes);
  if (of_all_orders) {
    bound = *of_all_orders;
    geometry.size_confidence =
        Predictions{.asked = 2 * asked_orders, .right = 2 * asked_orders}.confidence();
  } else {
    CacheUnderTest settled = cache;
    if (!settle_bound(settled, geometry)) return bracket_size(settled, coarse, geometry);
    geometry.residents_bytes = bound.fitting_bytes;  // no return pass meets what chance leaves
    return;
  }
  const Residents residents = measure_residents(cache, bound.fitting_bytes, line_bytes);
  geometry.residents_bytes = residents.bytes;
  geometry.fills_late = !residents.are_all_at_once;
  // So few of many lines stay by chance, in no set that is larger than others.
  if (geometry.residents_bytes < bound.fitting_bytes + bound.fitting_bytes / by_chance) {
    geometry.residents_bytes = bound.fitting_bytes;
    return;
  }
  // Where sets fill late, footprints of twice the size leave some of them with room.
  const bool is_in_order = (geometry.fills_late && residents.are_the_same) ||
                           evicts_in_order(cache, geometry.residents_bytes, line_bytes);
  if (residents.stay && is_in_order) return;
  geometry.residents_bytes = bound.fitting_bytes;
  bracket_size(cache, coarse, geometry);
  // Where some sets are full long before others, half of the lines are lost before those are.
  if (geometry.part_range.high > 0) {
    geometry.part_range.high =
        std::max(geometry.part_range.high, 2 * static_cast<double>(residents.bytes));
  }
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
    reason = fmt::format("every footprint asked for {}, {} at last",
                         coarse.fitting_bytes == 0 ? "overflows" : "fits", format_bytes(met_bytes));
    return std::nullopt;
  }
  const LineLength line = measure_line(cache, coarse.fitting_bytes, unit_bytes);
  CacheGeometry geometry{.bound = coarse,
                         .line_bytes = line.bytes,
                         .fetch = *fetch,
                         .outlier_share = cache.outlier_share,
                         .line_contrast = line.contrast};
  if (fetch->bytes < line.bytes && line.bytes == access_bytes(cache.chase.path)) {
    geometry.within_block = LineWithinBlock{};
    if (const auto within = measure_line_within_block(cache, coarse.fitting_bytes, fetch->bytes))
      geometry.within_block = *within;
  }
  return geometry;
}

void take_size_of_sets(const SetLayout& sets, std::uint64_t way_bytes, CacheGeometry& geometry) {
  if (sets.ways_per_set.front() != sets.ways_per_set.back()) return;
  const std::uint64_t held_bytes = sets.lines() * way_bytes;
  const bool is_open = geometry.gradual || !geometry.accesses_are_lines();
  if (is_open && geometry.may_hold(held_bytes)) geometry.filled_bytes = held_bytes;
}

void measure_size(const CacheUnderTest& of, CacheGeometry& geometry) {
  CacheUnderTest cache = of;
  cache.outlier_share = geometry.outlier_share;
  if (!is_large(geometry.bound.fitting_bytes, geometry.line_bytes))
    return measure_small_size(cache, geometry);
  const std::uint64_t line_bytes = geometry.line_bytes;
  CapacityBound& bound = geometry.bound;
  const HitBoundary boundary = measure_return_boundary(cache, bound, line_bytes);
  if (boundary.agreement > step_agreement && holds_elsewhere(cache, bound, line_bytes, boundary)) {
    bound.fitting_bytes = boundary.position * line_bytes;
    bound.overflowing_bytes = bound.fitting_bytes + line_bytes;
    return;
  }
  geometry.gradual = true;
  // Half of the lines are lost at a quarter more than the first ones, or beyond.
  const CapacityBound expected{bound.overflowing_bytes, bound.overflowing_bytes / 4 * 5};
  const CapacityBound half = measure_half_lost(cache, expected, line_bytes);
  geometry.half_lost_bytes = half.fitting_bytes;
  geometry.part_range = range_of_draws(cache, geometry, half, [&](const CacheUnderTest& at) {
    return measure_half_lost(at, half, line_bytes);
  });
  geometry.first_miss_range = range_of_draws(cache, geometry, bound, [&](const CacheUnderTest& at) {
    return measure_coarse_bound_near(at, bound, std::max(line_bytes, common_line_bytes));
  });
}

std::string why_too_many_lines(const CacheGeometry& geometry) {
  constexpr std::uint64_t most_lines = 1 << 17;
  const std::uint64_t lines = geometry.part_bytes() / geometry.line_bytes;
  if (lines <= most_lines) return {};
  return fmt::format(
      "{} lines: a chase that overfills a set accesses most of them, hundreds of such chases take "
      "minutes; physical addresses hide the index",
      lines);
}

}  // namespace sonde
