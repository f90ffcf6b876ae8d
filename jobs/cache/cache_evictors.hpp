// Inner-level eviction lists of a cache: lines that push others out of the inner caches of its
// path, so that the cache behind them sees every access. Found by trying, as nothing is known of
// how the inner ones replace; jobs/cache/cache_probe accesses them.
#pragma once

#include "analysis/structure/sets/conflict_set.hpp"
#include "jobs/chase/cache_under_test.hpp"

#include <functional>

namespace sonde {

/// Offsets of one compact region that ends at `end_bytes` and, accessed in every pass behind a
/// short list, pushes its lines out of the inner caches nine times in ten, and its own, too, if one
/// is found that does; it stays in the cache itself. nullopt if no region of at most `most_bytes`
/// does.
/// @pre cache.inner
std::optional<Lines> find_pass_evictors(const CacheUnderTest& cache, std::uint64_t line_bytes,
                                        std::uint64_t end_bytes, std::uint64_t most_bytes);

/// As few of `candidates` as possible that, accessed after each access to one of `lines`, push it
/// out of the inner caches before it is accessed again: group testing, halving the groups left out
/// (Vila et al. 2019). nullopt if all of them do not.
/// @param check_end called before each chase  @throws what it throws  @pre cache.inner
std::optional<Lines> find_access_evictors(const CacheUnderTest& cache, const Lines& lines,
                                          const Lines& candidates,
                                          const std::function<void()>& check_end);

}  // namespace sonde
