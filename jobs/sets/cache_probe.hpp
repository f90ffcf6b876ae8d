// Answers the questions of analysis/structure/conflict_search on a device: chases lists of lines,
// many at once where every SM has a cache of its own, and counts which of their loads missed.
#pragma once

#include "analysis/structure/sets/conflict_set.hpp"
#include "jobs/chase/cache_under_test.hpp"

namespace sonde {

struct ConflictSetup {
  CacheUnderTest cache;
  /// Each list is walked on one of them; with more than one, the cache is private to each.
  std::vector<int> sms;
  /// Walked in every pass behind the list: pushes its lines out of inner caches.
  Lines pass_evictors;
};

/// SMs that do not share the cache: as many as there are, all or every n-th. Finds out by filling
/// most of it from all of them at once.
/// @param size_bytes of the cache; at most this is sure to fit
/// @param pass_evictors see ConflictSetup; its lines lie above all others
ConflictSetup set_up_conflicts(JobRun& run, const CacheUnderTest& cache, std::uint64_t size_bytes,
                               std::uint64_t line_bytes, const Lines& pass_evictors = {});

/// The lines of this length that offsets lie in, each once, ascending.
Lines lines_under(const Lines& offsets, std::uint64_t line_bytes);

/// @pre run and setup outlive the oracle
MissOracle ask_device(JobRun& run, const ConflictSetup& setup);

/// Walks lists once from an empty cache: for each whether its accesses missed. Lists are of one
/// length.
std::vector<std::vector<bool>> record_traces(JobRun& run, const ConflictSetup& setup,
                                             const std::vector<Offsets>& chases);

}  // namespace sonde
