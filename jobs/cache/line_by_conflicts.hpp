// The line of a cache by conflicts on the device, for caches whose chases over parts of lines leave
// it open (jobs/cache/geometry).
#pragma once

#include "analysis/structure/sets/line_search.hpp"
#include "jobs/chase/cache_under_test.hpp"

namespace sonde {

/// nullopt if no set is found to overflow. Asks on one SM only.
/// @param coarse_size_bytes of the cache, or less: lines are looked for in a span of many times
/// that
/// @pre no inner caches; global memory
std::optional<LineByConflicts> measure_line_by_conflicts(const CacheUnderTest& cache,
                                                         std::uint64_t coarse_size_bytes,
                                                         std::uint64_t fetch_bytes);

}  // namespace sonde
