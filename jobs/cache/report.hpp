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

/// Reports `.size_bytes`, `.first_miss_bytes`, `.line_bytes`, `.sector_bytes` and `.fetch_bytes`.
void report_geometry(const CacheUnderTest& cache, const CacheGeometry& geometry,
                     const GeometryRemarks& remarks);

/// Reports `.fetch_bytes`: not resolvable where misses lie apart now so and now so.
void report_fetch(const CacheUnderTest& cache, const BlockSize& fetch);

/// Reports `.hit_latency_cycles` and `.miss_latency_cycles` by replicates.
/// @param cache as metrics name it
/// @pre both have samples
void report_latencies(JobRun& run, const std::string& cache, const Replicates& hits,
                      const Replicates& misses);

/// One of these alone.
void report_hit_latency(JobRun& run, const std::string& cache, const Replicates& hits);
void report_miss_latency(JobRun& run, const std::string& cache, const Replicates& misses);

/// find_sets, ended with a reason if it takes the device too long.
SetFindings find_sets_in_time(CacheProbe& probe);

/// Why sets of a cache behind others are not believed, though confirmed: their ways differ. Empty
/// if they do not.
std::string explain_unequal_ways(const SetFindings& found);

/// Whether sets that are full can tell if all that misses bring of a line is one: not behind inner
/// caches, of one of several partitions, or of lines that come as a whole.
bool full_sets_tell_line(const CacheUnderTest& cache, const CacheGeometry& geometry);

/// Whether all that misses bring of these lines stays at once, but for outliers.
/// @param lines that fill sets, each asked for at one place until now
bool stay_whole(CacheProbe& probe, const Lines& lines, std::uint64_t unit_bytes);

/// The same cache, if its lines are of so many bytes.
CacheGeometry with_line(const CacheUnderTest& cache, const CacheGeometry& seen,
                        std::uint64_t line_bytes);

/// Looks for the sets, judges by them whether the line is right (a direct-mapped cache has sets of
/// one line of whatever length, so those prove nothing), and reports them if the line is known.
/// Where full sets refute the line, the size is measured anew, and line and sets are left open.
SetFindings characterize_sets_of_lines(const CacheUnderTest& cache, CacheProbe& probe,
                                       CacheGeometry& geometry);

}  // namespace sonde
