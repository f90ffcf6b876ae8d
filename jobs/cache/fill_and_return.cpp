// One chase goes up through a fill and down again; of the way down the misses count.
#include "jobs/cache/fill_and_return.hpp"

#include "jobs/cache/capacity.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <set>

namespace sonde {
namespace {

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

}  // namespace

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

}  // namespace sonde
