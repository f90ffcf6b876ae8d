// What one miss of a cache brings: the first step towards its geometry (jobs/cache/geometry).
#pragma once

#include "analysis/structure/capacity/miss_blocks.hpp"
#include "jobs/chase/cache_under_test.hpp"

namespace sonde {

/// Bytes that one miss brings: a first access in steps of 8 bytes, from the top down. In a space of
/// their own lines are accessed anew once all others there have pushed them out, so that caches
/// which nothing empties can be asked, too. nullopt with fewer than two misses.
/// Source: Mei and Chu 2016, section 4.2.
std::optional<BlockSize> measure_fetch(const CacheUnderTest& cache);

}  // namespace sonde
