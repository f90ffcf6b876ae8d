// Reports the geometry and latencies of a cache under its name, such as `cache.l1`. The job reports
// missing metrics by JobRun::report_rest.
#pragma once

#include "jobs/cache/cache_probe.hpp"
#include "jobs/cache/geometry.hpp"
#include "jobs/sets/sets_probe.hpp"

#include <string>

namespace sonde {

/// Further remarks on a cache.
struct GeometryRemarks {
  std::string size = {};         // how its size was measured
  std::string inner_cache = {};  // prefix of the metrics of the cache before it; empty: none
};

/// Why the size is not resolvable; empty if it is known.
std::string explain_no_size(const CacheGeometry& geometry);

/// Reports `.size_bytes`, `.first_miss_bytes`, `.line_bytes`, `.sector_bytes` and `.fetch_bytes`.
void report_geometry(const CacheUnderTest& cache, const CacheGeometry& geometry,
                     const GeometryRemarks& remarks);

/// Reports `.fetch_bytes`: not resolvable if the distance between misses is not constant.
void report_fetch(const CacheUnderTest& cache, const BlockSize& fetch);

/// Reports the latency of hits or misses from replicates, with near and far modes if there are two.
/// @pre there are samples
void report_latency(JobRun& run, const std::string& metric, const Replicates& latencies);

/// The geometry of a cache, refined by its sets, and the sets.
struct CacheStructure {
  CacheGeometry geometry;
  SetFindings sets;
};

/// Searches for the sets within a time limit and checks the line with them. Reports the sets if
/// nothing contradicts them or the line; otherwise their reason names the contradiction.
CacheStructure characterize_sets(CacheProbe& probe, CacheGeometry geometry);

}  // namespace sonde
