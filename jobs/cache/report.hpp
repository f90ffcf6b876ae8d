// Turns the shape of a cache into findings under a name: `cache.l1`, `cache.readonly`, `cache.l2`.
#pragma once

#include "jobs/cache/geometry.hpp"

#include <string>

namespace sonde {

/// Reports size, first miss, line, sector and fetch.
/// @param inner the cache before it on its path, as metrics name it; empty: none
void report_geometry(JobRun& run, const std::string& cache, const CacheGeometry& shape,
                     const std::string& remark, const std::string& inner = "cache.l1");

/// Reports `.hit_latency_cycles` and `.miss_latency_cycles`.
void report_latencies(JobRun& run, const std::string& cache, const std::vector<double>& hits,
                      const std::vector<double>& misses);

/// Every metric that report_geometry and report_latencies would have given, as not there.
void report_absent(JobRun& run, const std::string& cache, const std::string& reason);

/// The metrics of report_geometry as not resolvable.
void report_no_geometry(JobRun& run, const std::string& cache, const std::string& reason);

}  // namespace sonde
