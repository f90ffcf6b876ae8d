// Inner-level eviction lists of a cache: lines that evict other lines from the inner caches of the
// path, so that every access reaches the cache. They are found by trial, because the replacement
// policy of the inner caches is not known. jobs/cache/cache_probe accesses them.
#pragma once

#include "analysis/structure/sets/conflict_set.hpp"
#include "jobs/chase/cache_under_test.hpp"

#include <functional>

namespace sonde {

/// Offsets of a compact region that ends at `end_bytes` and stays in the cache. Accessed after a
/// short list in every pass, it evicts the list from the inner caches in nine of ten cases, and
/// also itself, if such a region is found. nullopt if no region of at most `most_bytes` does.
/// @pre cache.inner
std::optional<Lines> find_pass_evictors(const CacheUnderTest& cache, std::uint64_t line_bytes,
                                        std::uint64_t end_bytes, std::uint64_t most_bytes);

/// The fewest of `candidates` that, accessed after each access to one of `lines`, evict it from the
/// inner caches before its next access: group testing with halved groups (Vila et al. 2019).
/// nullopt if even all candidates do not.
/// @param check_end called before each chase  @throws what check_end throws  @pre cache.inner
std::optional<Lines> find_access_evictors(const CacheUnderTest& cache, const Lines& lines,
                                          const Lines& candidates,
                                          const std::function<void()>& check_end);

}  // namespace sonde
