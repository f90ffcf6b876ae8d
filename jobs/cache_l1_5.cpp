// Job `cache.l1_5`: a cache between the first one and the L2 on the way of plain loads (RDNA's
// GL1). Method: docs/methods/cache-levels.md.
#include "base/units.hpp"
#include "jobs/cache/path_levels.hpp"

namespace sonde {

void run_cache_l1_5(JobRun& run) {
  const Finding* first = run.answer("cache.l1.size_bytes");
  if (first != nullptr && first->status == Status::not_present) {
    return run.report_rest("", Status::not_present, "the cache before it is there only with an L1");
  }
  // Sixteen times the largest such cache known (RDNA3: 256 KiB).
  constexpr std::uint64_t largest_footprint_bytes = 4_MiB;
  const CachePath path{
      .path = LoadPath::all_levels,
      .record_space = RecordSpace::with_largest_l1,
      .caches = {"cache.l1", "cache.l1_5"},
      .survey_bytes = largest_footprint_bytes,
      .asked_bytes = static_cast<std::uint64_t>(run.number("cache.l1.fetch_bytes").value_or(0))};
  const PathSurvey survey = survey_path(run, path);
  report_unanswered(run, "cache.l1_5", characterize_level(run, path, survey, 1));
}

}  // namespace sonde
