// Turns the geometry of a cache and its latencies into findings under its name: `cache.l1` and its
// like. What they leave without a finding the job reports by JobRun::report_rest.
#pragma once

#include "jobs/cache/cache_probe.hpp"
#include "jobs/cache/geometry.hpp"
#include "jobs/sets/sets_probe.hpp"

#include <string>

namespace sonde {

/// What else there is to say about a cache's size and sectors.
struct GeometryRemarks {
  std::string size = {};         // how its size was seen
  std::string inner_cache = {};  // the one before it on its path, as metrics name it; empty: none
};

/// Why the size is not resolvable; empty if it is known.
std::string explain_no_size(const CacheGeometry& geometry);

/// Reports `.size_bytes`, `.first_miss_bytes`, `.line_bytes`, `.sector_bytes` and `.fetch_bytes`.
void report_geometry(const CacheUnderTest& cache, const CacheGeometry& geometry,
                     const GeometryRemarks& remarks);

/// Reports `.fetch_bytes`: not resolvable where misses lie apart now so and now so.
void report_fetch(const CacheUnderTest& cache, const BlockSize& fetch);

/// Reports a latency of hits or misses by replicates. Those of a divided L2 or memory may be near
/// or far. @pre it has samples
void report_latency(JobRun& run, const std::string& metric, const Replicates& latencies);

/// A cache after the search for its sets: the geometry, with what the sets add to it, and the sets.
struct CacheStructure {
  CacheGeometry geometry;
  SetFindings sets;
};

/// Looks for the sets as long as time allows, tries the line with them, and reports them if nothing
/// speaks against them or the line; else their reason says what does.
CacheStructure characterize_sets(const CacheUnderTest& cache, CacheProbe& probe,
                                 CacheGeometry geometry);

}  // namespace sonde
