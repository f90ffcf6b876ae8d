// Size, line and fetch of one cache: the steps of fetch, capacity and line in the order that every
// cache job goes through, and what they give. jobs/cache/report makes findings of it.
#pragma once

#include "analysis/results.hpp"
#include "analysis/structure/capacity/capacity_search.hpp"
#include "analysis/structure/capacity/miss_blocks.hpp"
#include "analysis/structure/predict/predictions.hpp"
#include "jobs/chase/cache_under_test.hpp"

#include <algorithm>

namespace sonde {

/// What is known about a cache.
struct CacheGeometry {
  BlockSize fetch;
  std::uint64_t line_bytes = 0;
  /// 0..1: how clearly blocks up to the line and beyond it differ, or what trials of sets say.
  double line_confidence = 0;
  CapacityBound bound;  // of one partition: first misses; to one line, or coarse if `spread`
  /// Footprints up to the bound and beyond it, in orders that no search used.
  Predictions footprints = {};
  /// Lines are lost little by little: where the first one was in all draws.
  std::optional<Interval> spread = {};
  double outlier_share = usual_outlier_share;  // as CacheUnderTest
  std::uint64_t partitions = 1;                // as large as the one that `bound` is of
  std::uint64_t filled_bytes = 0;  // lines of all sets, if they were seen to stay together; or 0
  std::string no_size = {};        // why the size is not resolvable; empty: it may be

  /// Whether lines may be shorter than what is accessed: code is executed block by block. Then the
  /// line is not known, and the size to a block.
  bool hides_lines = false;

  /// A line that is less sure is a guess.
  bool line_is_known() const {
    constexpr double least_confidence = 0.4;
    return !hides_lines && line_confidence >= least_confidence;
  }
  bool size_is_known() const { return no_size.empty() && (!spread || filled_bytes > 0); }
  /// Of the partition that `bound` is of; what stays at least, if the size is not known.
  std::uint64_t part_bytes() const { return filled_bytes > 0 ? filled_bytes : bound.fitting_bytes; }
  std::uint64_t size_bytes() const { return partitions * part_bytes(); }
};

/// Fetch, coarse bound and line. nullopt with the reason in `reason` if the traces do not resolve
/// them.
std::optional<CacheGeometry> measure_geometry(const CacheUnderTest& cache, std::string& reason);

/// The bound to one line, if footprints in other orders bear it out; else where lines begin to be
/// lost. @param coarse as measure_geometry gives it
CacheGeometry measure_size(const CacheUnderTest& cache, CacheGeometry coarse);

/// Why so many lines are too many to look for their sets; empty if they are not.
std::string why_too_many_lines(std::uint64_t lines);

}  // namespace sonde
