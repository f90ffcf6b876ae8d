// Caches that a path leads through one after the other: texture fetches, constants, code. The
// structure of each that the survey saw, behind the inner ones. Method:
// docs/methods/cache-levels.md.
#pragma once

#include "analysis/structure/latency/latency_classes.hpp"
#include "jobs/chase/cache_under_test.hpp"
#include "jobs/chase/pointer_chase.hpp"

#include <string>
#include <vector>

namespace sonde {

/// A path and what its caches are called.
struct CachePath {
  LoadPath path = LoadPath::all_levels;
  RecordSpace record_space = RecordSpace::longest;
  std::vector<std::string> caches;  // as metrics name them, innermost first
  std::uint64_t space_bytes = 0;    // all that the path can reach; 0: global memory
  std::uint64_t survey_bytes = 0;   // the largest footprint that is asked for its latency
};

/// Who serves the loads of a path.
struct PathSurvey {
  ChaseSetup chase;
  std::vector<LatencyClass> caches;    // the path's own, innermost first
  std::optional<LatencyClass> behind;  // what serves misses of the last of them, if it was seen
  bool last_is_full = false;           // no footprint overflows the last one
  bool may_go_on = false;              // what serves its misses may be the L2, or a cache before it
  std::string no_more;                 // why there are no more caches, or why none is known

  /// What serves misses of a cache that was seen.
  const LatencyClass& misses_of(std::size_t level) const {
    return level + 1 < caches.size() ? caches[level + 1] : *behind;
  }
};

/// @throws DeviceLostError; a path that the device refuses is an empty survey
PathSurvey survey_path(JobRun& run, const CachePath& path);

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
