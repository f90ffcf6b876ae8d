// Which partition of a divided L2 is the home of a line, by atomics: they are answered where the
// line lives, never by a near copy. A part of the job cache.l2.
#pragma once

#include "jobs/chase/cache_under_test.hpp"

#include <optional>
#include <string>
#include <vector>

namespace sonde {

/// Some sixteen SMs all over the chip, on both sides of a divided one.
std::vector<int> sms_all_over(const JobRun& run);

/// Whether the job cache.l2 saw partitions, by loads or by atomics.
bool l2_is_divided(const JobRun& run);

/// Reports `.segment_bytes` and `.far_hit_latency_cycles` as absent: one part.
void report_one_part(JobRun& run, const std::string& reason);

/// Reports them where no latency beyond the size lies between hits and the memory, if the L2 is
/// divided all the same: without copies each line is in one partition, and among the hits are far
/// ones from the first.
/// @param size_bytes of a footprint in a row that fits
/// @return nullopt if hits of all SMs are as near: nothing is reported. Else why that and its sets
/// are not those of the whole L2, if its lines lie in one partition more than others do, or empty
std::optional<std::string> report_parts_without_copies(const CacheUnderTest& cache,
                                                       std::uint64_t size_bytes);

/// Reports `.atomic_near_cycles .atomic_far_cycles .home_near_fraction .home_function`.
/// Method: docs/methods/l2-partitions.md.
void report_l2_partitions(JobRun& run);

}  // namespace sonde
