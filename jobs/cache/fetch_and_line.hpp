// What one miss of a cache brings, and how long its lines are, asked before its size is known to
// the line: the first steps towards its geometry (jobs/cache/geometry).
#pragma once

#include "analysis/structure/capacity/miss_blocks.hpp"
#include "jobs/chase/cache_under_test.hpp"

#include <cstdint>
#include <optional>

namespace sonde {

struct LineLength {
  std::uint64_t bytes = 0;
  double contrast = 0;  // 0..1: how clearly blocks up to the line and beyond it differ
};

/// Bytes that one miss brings: a first access in steps of 8 bytes, from the top down. In a space of
/// their own lines are accessed anew once all others there have pushed them out, so that caches
/// which nothing empties can be asked, too. nullopt with fewer than two misses.
/// Source: Mei and Chu 2016, section 4.2.
std::optional<BlockSize> measure_fetch(const CacheUnderTest& cache);

/// The largest block of which one fetched unit takes the capacity of the whole: spans of 1.4 times
/// the size are touched with one unit in each block; they stay if a block is more than one line.
/// Where that leaves it open, constants and code by pairs of places.
/// @param coarse_size_bytes of the cache, to some per cent
LineLength measure_line(const CacheUnderTest& cache, std::uint64_t coarse_size_bytes,
                        std::uint64_t fetch_bytes);

}  // namespace sonde
