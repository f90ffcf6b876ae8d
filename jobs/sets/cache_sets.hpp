// Sets, index function and replacement of a cache whose outline is known: the searches of
// analysis/structure on the device, and what they found as findings.
#pragma once

#include "analysis/structure/replacement/match.hpp"
#include "analysis/structure/sets/set_layout.hpp"
#include "jobs/sets/cache_probe.hpp"

#include <string>

namespace sonde {

/// The lines that a cache of this size is searched with: a span that shows many more address bits
/// than the cache has sets for, within one large page where that is enough.
LinePool choose_line_pool(const CacheUnderTest& cache, std::uint64_t size_bytes,
                          std::uint64_t line_bytes, std::uint64_t span_limit_bytes);

/// Sets of the cache. With the setup's many SMs at once where it has them.
SetLayout measure_sets(JobRun& run, const ConflictSetup& setup, const LinePool& space);

/// Whether sets found elsewhere hold here, too: as many lines as a set has ways fit, one more does
/// not, in some dozens of sets each asked alone. Gives back the agreement, 0..1.
double confirm_sets(JobRun& run, const ConflictSetup& setup, const LinePool& space,
                    const SetLayout& sets);

/// Bytes of as many lines of every set as it has ways, if all of them stay together: what the cache
/// holds, whatever the order in which plain footprints fill its sets. 0 if some do not (data may be
/// scarcer than tags), or if the sets are of different width.
std::uint64_t measure_filled(JobRun& run, const ConflictSetup& setup, const LinePool& space,
                             const SetLayout& sets);

/// Replacement, from chases over the lines of some sets alone. @pre sets.resolved()
ReplacementFit measure_replacement(JobRun& run, const ConflictSetup& setup, const LinePool& space,
                                   const SetLayout& sets);

/// Reports `.sets .ways .ways_per_set .tag_reach_bytes .index_function`.
void report_sets(JobRun& run, const std::string& cache, const SetLayout& sets,
                 std::uint64_t line_bytes);

/// Reports `.replacement .way_probability`.
void report_replacement(JobRun& run, const std::string& cache, const ReplacementFit& fit);

/// What was found out about the sets of a cache.
struct SetFindings {
  LinePool space;
  SetLayout sets;
  std::uint64_t filled_bytes = 0;             // see measure_filled
  std::optional<ReplacementFit> replacement;  // if sets are resolved

  /// Other chases did as these sets predict.
  bool confirmed() const;
};

/// All of it: search, match, report.
SetFindings characterize_sets(JobRun& run, const CacheUnderTest& cache, std::uint64_t size_bytes,
                              std::uint64_t line_bytes);

/// The same metrics as not there, or as not resolvable.
void report_no_sets(JobRun& run, const std::string& cache, Status status,
                    const std::string& reason);

}  // namespace sonde
