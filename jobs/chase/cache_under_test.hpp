// The cache that a measurement characterizes: how chases reach it, which latencies are misses, and
// how far chases may go. Every measurement of a cache (jobs/cache, jobs/sets) starts from it.
#pragma once

#include "jobs/chase/pointer_chase.hpp"

#include <limits>

namespace sonde {

/// The inner caches of a path. Accesses that hit one of them do not reach the cache under test.
struct InnerCaches {
  std::uint64_t size_bytes = 0;  // of the largest inner cache
  std::uint64_t line_bytes = 0;  // the shortest line of them
  double threshold_cycles = 0;   // loads above it missed all of them
};

/// Share of hits that look like misses: one or two in ten thousand on an H100 and on an H200.
inline constexpr double usual_outlier_share = 2e-4;

/// Passes that settle a small footprint under random replacement: a footprint that fits loses lines
/// for many passes, until each line has found a way.
inline constexpr std::uint64_t slow_settling_passes = 24;

/// A cache as a chase sees it: loads above the threshold are misses.
struct CacheUnderTest {
  JobRun& run;
  std::string name;  // prefix of its metrics, and of its probes in the file
  ChaseSetup chase;
  double threshold_cycles = 0;
  // The longest miss, as far as is known: longer loads are outliers.
  double ceiling_cycles = std::numeric_limits<double>::infinity();
  std::uint64_t limit_bytes = 0;  // largest footprint that may be chased
  std::uint64_t seed = 0;
  std::uint64_t space_bytes = 0;  // size of the space of constants or code; 0: global memory
  std::optional<InnerCaches> inner = {};
  double outlier_share = usual_outlier_share;  // upper bound
  std::uint64_t settling_passes = 2;  // passes over footprints of few lines before they are timed
  std::vector<int> odd_sms = {};      // SMs that are known to have a different cache; ascending

  /// Every offset of a chase lies below this.
  std::uint64_t end_bytes() const {
    return space_bytes > 0 ? space_bytes : std::numeric_limits<std::uint64_t>::max();
  }
};

/// Latencies of a chase through the cache. The file keeps the trace as "name label".
/// @throws DeviceError, DeviceLostError
inline ChaseLatencies measure_chase(const CacheUnderTest& cache, const std::string& label,
                                    const ChasePlan& plan) {
  return measure_chase(cache.run, cache.chase, cache.name + " " + label, plan);
}

}  // namespace sonde
