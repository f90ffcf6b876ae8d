// Who serves the loads of a path as footprints grow: its own caches, the L2, the memory. The first
// step of jobs/cache/path_levels. Method: docs/methods/cache-levels.md.
#pragma once

#include "analysis/structure/latency/latency_classes.hpp"
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
  std::string no_more;                 // why there are no more caches, or why none is known

  /// What serves misses of a cache that was seen.
  const LatencyClass& misses_of(std::size_t level) const {
    return level + 1 < caches.size() ? caches[level + 1] : *behind;
  }
};

/// @throws DeviceLostError; a path that the device refuses is an empty survey
PathSurvey survey_path(JobRun& run, const CachePath& path);

}  // namespace sonde
