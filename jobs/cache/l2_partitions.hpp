// Which partition of a divided L2 is the home of a line, by atomics: they are answered where the
// line lives, never by a near copy. A part of the job cache.l2.
#pragma once

#include "jobs/run/job_run.hpp"

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

}  // namespace sonde
