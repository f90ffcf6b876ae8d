// Which partition of a divided L2 is the home of a line, by atomics: they are answered where the
// line lives, never by a near copy. A part of the job cache.l2.
#pragma once

#include "jobs/chase/cache_under_test.hpp"
#include "jobs/run/job_run.hpp"

#include <optional>
#include <string>
#include <vector>

namespace sonde {

/// Some sixteen SMs all over the chip, on both sides of a divided one.
std::vector<int> sms_all_over(const JobRun& run);

/// Reports `.segment_bytes` and `.far_hit_latency_cycles` as absent: one part.
void report_one_part(JobRun& run, const std::string& reason);

/// Reports `.atomic_near_cycles .atomic_far_cycles .home_near_fraction .home_function`.
/// Method: docs/methods/l2-partitions.md.
void report_l2_partitions(JobRun& run);

enum class L2Parts { one, several, not_told };

struct LoadedElsewhere {
  L2Parts kind = L2Parts::not_told;  // not_told: fewer than two SMs could be asked
  std::vector<std::vector<double>> far_hits_of_sm = {};  // of several, of SMs that have any
};

/// SMs all over the chip load lines all over the memory that another SM has just loaded, and they
/// themselves have not. In one L2 all are hits of the same kind. In several partitions those with
/// their home in another one are far, whether copies are kept or not.
/// @throws DeviceError, DeviceLostError
LoadedElsewhere look_for_parts(const CacheUnderTest& cache);

}  // namespace sonde
