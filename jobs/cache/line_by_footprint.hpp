// The line of a cache by which footprints overflow it, asked before the size is known to the line
// (jobs/cache/geometry).
#pragma once

#include "jobs/chase/cache_under_test.hpp"

namespace sonde {

struct LineByFootprint {
  std::uint64_t bytes = 0;
  double contrast = 0;  // 0..1: how clearly blocks up to the line and beyond it differ
};

/// The largest block of which one fetched unit takes the capacity of the whole: spans of 1.4 times
/// the size are touched with one unit in each block; they stay if a block is more than one line.
/// @param coarse_size_bytes of the cache, to some per cent
LineByFootprint measure_line_by_footprint(const CacheUnderTest& cache,
                                          std::uint64_t coarse_size_bytes,
                                          std::uint64_t fetch_bytes);

}  // namespace sonde
