// Lines that push others out of the nearer caches of a path, so that a cache behind them sees every
// visit. Found by trying, as nothing is known of how the nearer ones replace.
#pragma once

#include "jobs/conflict_oracle.hpp"

namespace sonde {

/// Offsets of one compact region at the end of a span that, visited in every pass behind a short
/// list, push its lines out of the nearer caches, and take few lines of the cache itself.
/// nullopt if no region of at most half of the cache does.
/// @pre cache.nearer
std::optional<Lines> find_scrub(JobRun& run, const CacheSubject& cache, std::uint64_t size_bytes,
                                std::uint64_t line_bytes, std::uint64_t span_bytes);

/// As few of `candidates` as possible that, visited after each visit to one of `lines`, push it out
/// of the nearer caches before it is visited again. nullopt if all of them do not.
/// @pre cache.nearer
std::optional<Lines> find_rinse(JobRun& run, const CacheSubject& cache, const Lines& lines,
                                const Lines& candidates);

}  // namespace sonde
