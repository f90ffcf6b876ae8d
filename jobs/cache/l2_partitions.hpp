// Finds which partition of a divided L2 is the home of a line by atomics, which the home serves,
// never a near copy. Part of the job cache.l2.
#pragma once

#include "jobs/chase/cache_under_test.hpp"
#include "jobs/run/job_run.hpp"

#include <string>
#include <vector>

namespace sonde {

/// Reports `.segment_bytes` and `.far_hit_latency_cycles` as absent, for an undivided L2.
void report_one_part(JobRun& run, const std::string& reason);

/// Reports `.atomic_near_cycles .atomic_far_cycles .home_near_fraction .home_function`.
/// Method: docs/methods/l2-partitions.md.
void report_l2_partitions(JobRun& run);

enum class L2Parts { one, several, not_told };

/// The number of partitions, and latencies of far hits.
struct LoadedElsewhere {
  L2Parts kind = L2Parts::not_told;  // not_told: fewer than two SMs could be used
  std::vector<std::vector<double>> far_hits_of_sm = {};  // one row per SM with far hits
};

/// SMs all over the chip load lines all over the memory that another SM has just loaded, but they
/// themselves have not. An undivided L2 gives one kind of hits. With several partitions, lines
/// whose home is another partition are far hits, whether the near partition keeps copies or not.
/// @throws DeviceError, DeviceLostError
LoadedElsewhere look_for_parts(const CacheUnderTest& cache);

}  // namespace sonde
