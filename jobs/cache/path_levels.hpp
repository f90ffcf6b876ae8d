// Successive caches of a path (texture fetches, constants, code): surveys the path and
// characterizes each cache behind its inner caches. Method: docs/methods/cache-levels.md.
#pragma once

#include "analysis/structure/latency/latency_classes.hpp"
#include "jobs/chase/cache_under_test.hpp"
#include "jobs/chase/pointer_chase.hpp"

#include <string>
#include <vector>

namespace sonde {

struct CachePath {
  LoadPath path = LoadPath::all_levels;
  RecordSpace record_space = RecordSpace::longest;
  std::vector<std::string> caches;  // prefixes of their metrics, innermost first
  std::uint64_t space_bytes = 0;    // all memory that the path can reach; 0: global memory
  std::uint64_t survey_bytes = 0;   // the largest footprint of the survey
};

/// The levels that serve the loads of a path.
struct PathSurvey {
  ChaseSetup chase;
  std::vector<LatencyClass> caches;    // caches of the path, innermost first
  std::optional<LatencyClass> behind;  // serves misses of the last cache, if seen
  bool last_is_full = false;           // no footprint overflows the last one
  bool may_go_on = false;              // the next level may be another cache before the L2
  std::string no_more;                 // why there are no more caches, or none is known

  const LatencyClass& misses_of(std::size_t level) const {
    return level + 1 < caches.size() ? caches[level + 1] : *behind;
  }
};

/// @throws DeviceLostError; returns an empty survey if the device refuses the path
PathSurvey survey_path(JobRun& run, const CachePath& path);

/// Smallest stride at which each access to a new line misses: the line, or the fetch if the line is
/// not known for sure; nullopt if neither is known.
/// @param cache prefix of its metrics
std::optional<double> step_of_cache(const JobRun& run, const std::string& cache);

/// Reports every metric of cache number `level` (from 0) of the path that has no finding yet. Inner
/// caches must have been reported by this job or an earlier one.
void characterize_level(JobRun& run, const CachePath& path, const PathSurvey& survey,
                        std::size_t level);

}  // namespace sonde
