// Jobs `cache.constant_l1`, `cache.constant_l2`, `cache.constant_l3`: the caches of the constant
// bank. Method: docs/methods/cache-levels.md.
#include "jobs/cache/path_levels.hpp"

namespace sonde {
namespace {

CachePath constant_path() {
  return {.path = LoadPath::constant,
          .caches = {"cache.constant_l1", "cache.constant_l2", "cache.constant_l3"},
          .space_bytes = constant_bank_bytes,
          .survey_bytes = constant_bank_bytes};
}

void run_level(JobRun& run, std::size_t level) {
  const CachePath path = constant_path();
  characterize_level(run, path, survey_path(run, path), level);
}

}  // namespace

void run_cache_constant_l1(JobRun& run) { run_level(run, 0); }

void run_cache_constant_l2(JobRun& run) { run_level(run, 1); }

void run_cache_constant_l3(JobRun& run) { run_level(run, 2); }

}  // namespace sonde
