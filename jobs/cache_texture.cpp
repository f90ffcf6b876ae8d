// Jobs `cache.texture_l1` and `cache.texture_l2`: the caches of texture fetches.
// Method: docs/methods/cache-levels.md.
#include "base/units.hpp"
#include "jobs/cache_levels.hpp"
#include "jobs/jobs.hpp"

namespace sonde {
namespace {

// Eight times the largest second-level texture cache known (GT200: 256 KB, Wong 2010).
constexpr std::uint64_t largest_footprint_bytes = 2_MiB;

CachePath texture_path() {
  return {.path = LoadPath::texture_1d,
          .record_space = RecordSpace::beside_largest_l1,
          .caches = {"cache.texture_l1", "cache.texture_l2"},
          .space_bytes = 0,
          .survey_bytes = largest_footprint_bytes};
}

void run_level(JobRun& run, std::size_t level) {
  const CachePath path = texture_path();
  characterize_level(run, path, survey_path(run, path), level);
}

}  // namespace

void run_cache_texture_l1(JobRun& run) { run_level(run, 0); }

void run_cache_texture_l2(JobRun& run) { run_level(run, 1); }

}  // namespace sonde
