// Size, line and fetch of a cache, measured in the order that every cache job uses.
// jobs/cache/report makes findings of them.
#pragma once

#include "analysis/results.hpp"
#include "analysis/structure/capacity/capacity_search.hpp"
#include "analysis/structure/capacity/miss_blocks.hpp"
#include "analysis/structure/predict/predictions.hpp"
#include "jobs/chase/cache_under_test.hpp"

namespace sonde {

/// What is known about a cache.
struct CacheGeometry {
  BlockSize fetch;
  std::uint64_t line_bytes = 0;
  /// 0..1: contrast between blocks up to the line and larger blocks, or from trials of sets.
  double line_confidence = 0;
  CapacityBound bound;  // of one partition, to one line; the coarse bound if `spread` is set
  /// Footprints up to the bound and beyond it, in orders that the search did not use.
  Predictions footprints = {};
  /// Set if lines are lost gradually: the range of the first lost line over all draws.
  std::optional<Interval> spread = {};
  double outlier_share = usual_outlier_share;  // as in CacheUnderTest
  std::uint64_t partitions = 1;                // of equal size; `bound` describes one of them
  std::uint64_t filled_bytes = 0;  // lines of all sets, if they were seen to stay together; else 0
  std::string no_size = {};        // why the size is not resolvable, if this is known

  /// Lines may be shorter than a block of code, the smallest access. Then the line is not known,
  /// and the size only to a block.
  bool hides_lines = false;

  /// With less confidence the line is a guess.
  bool line_is_known() const {
    constexpr double least_confidence = 0.4;
    return !hides_lines && line_confidence >= least_confidence;
  }
  bool size_is_known() const { return no_size.empty() && (!spread || filled_bytes > 0); }
  /// Size of one partition, or what stays in it at least if the size is not known.
  std::uint64_t part_bytes() const { return filled_bytes > 0 ? filled_bytes : bound.fitting_bytes; }
  std::uint64_t size_bytes() const { return partitions * part_bytes(); }
};

/// Fetch, coarse bound and line; nullopt, with the reason in `reason`, if they are not resolvable.
std::optional<CacheGeometry> measure_geometry(const CacheUnderTest& cache, std::string& reason);

/// The bound to one line if footprints in other orders confirm it; else the range where lines begin
/// to be lost. @param coarse from measure_geometry
CacheGeometry measure_size(const CacheUnderTest& cache, CacheGeometry coarse);

/// Why this many lines are too many for the search for sets; empty if they are not.
std::string why_too_many_lines(std::uint64_t lines);

}  // namespace sonde
