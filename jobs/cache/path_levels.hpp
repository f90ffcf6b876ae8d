// Caches that a path leads through one after the other: texture fetches, constants, code. The
// structure of each that the survey saw, behind the inner ones. Method:
// docs/methods/cache-levels.md.
#pragma once

#include "jobs/cache/path_survey.hpp"
#include "jobs/chase/cache_under_test.hpp"

namespace sonde {

/// Why metrics of a cache are left without a finding.
struct Unanswered {
  Status status = Status::ok;  // ok: none is left
  std::string reason;
};

/// Between accesses that each miss once their line has left: a line, or, where that is not known,
/// what a miss brings. nullopt: neither is known.
/// @param cache as metrics name it
std::optional<double> step_of_cache(const JobRun& run, const std::string& cache);

/// Reports what can be told about cache number `level` of the path, from 0 on; inner ones must have
/// been reported, by this job or an earlier one. What is left is for report_unanswered.
Unanswered characterize_level(JobRun& run, const CachePath& path, const PathSurvey& survey,
                              std::size_t level);

/// Reports the rest of a cache's metrics.
/// @param cache as metrics name it
void report_unanswered(JobRun& run, const std::string& cache, const Unanswered& unanswered);

}  // namespace sonde
