// Lines that push others out of the inner caches of a path, so that a cache behind them sees every
// access. Found by trying, as nothing is known of how the inner ones replace.
#pragma once

#include "jobs/sets/cache_probe.hpp"

namespace sonde {

/// Offsets of one compact region at the end of a span that, accessed in every pass behind a short
/// list, push its lines out of the inner caches, and take few lines of the cache itself.
/// nullopt if no region of at most half of the cache does.
/// @pre cache.inner
std::optional<Lines> find_pass_evictors(JobRun& run, const CacheUnderTest& cache,
                                        std::uint64_t size_bytes, std::uint64_t line_bytes,
                                        std::uint64_t span_bytes);

/// As few of `candidates` as possible that, accessed after each access to one of `lines`, push it
/// out of the inner caches before it is accessed again. nullopt if all of them do not.
/// @pre cache.inner
std::optional<Lines> find_access_evictors(JobRun& run, const CacheUnderTest& cache,
                                          const Lines& lines, const Lines& candidates);

}  // namespace sonde
