// A cache that chases are to characterize: how they reach it, which latencies are its misses, and
// how far they may go. Every measurement of a cache (jobs/cache, jobs/sets) starts from one.
#pragma once

#include "jobs/chase/pointer_chase.hpp"

#include <limits>

namespace sonde {

/// Caches of a path that come before another one: what lies in them does not reach it.
struct InnerCaches {
  std::uint64_t size_bytes = 0;  // of the largest
  std::uint64_t line_bytes = 0;  // the shortest of their lines
  double threshold_cycles = 0;   // loads above it missed them all
};

/// Of hits, those that look like misses. On an H100 and on an H200 one in ten thousand or two.
inline constexpr double usual_outlier_share = 2e-4;

/// A cache as a chase sees it: loads above the threshold miss it.
struct CacheUnderTest {
  JobRun& run;
  std::string name;  // of its metrics, and of its probes in the file
  ChaseSetup chase;
  double threshold_cycles = 0;
  // No miss takes longer, as far as is known: what lies beyond are outliers.
  double ceiling_cycles = std::numeric_limits<double>::infinity();
  std::uint64_t limit_bytes = 0;  // no footprint beyond this is asked for
  std::uint64_t seed = 0;
  std::uint64_t space_bytes = 0;  // of constants or code: no offset lies beyond; 0: global memory
  std::optional<InnerCaches> inner = {};
  double outlier_share = usual_outlier_share;  // at most
  std::uint64_t settling_passes = 2;  // over footprints of few lines, before they are asked
  std::vector<int> odd_sms = {};      // that have another cache, as far as is known; ascending

  /// No offset lies beyond.
  std::uint64_t end_bytes() const {
    return space_bytes > 0 ? space_bytes : std::numeric_limits<std::uint64_t>::max();
  }
};

/// Latencies of a chase through the cache. The file keeps it under its name and `label`.
/// @throws DeviceError, DeviceLostError
inline ChaseLatencies measure_chase(const CacheUnderTest& cache, const std::string& label,
                                    const ChasePlan& plan) {
  return measure_chase(cache.run, cache.chase, cache.name + " " + label, plan);
}

}  // namespace sonde
