// Job `cache.instruction`: the caches of code, `cache.instruction_l0` to `_l3`.
// Method: docs/methods/cache-levels.md.
#include "base/units.hpp"
#include "jobs/cache/path_levels.hpp"
#include "jobs/run/attempt.hpp"

namespace sonde {
namespace {

constexpr std::uint64_t least_code_bytes = 8_KiB;

/// The most code that the device has, up to the largest useful size; 0, with the reason, if none.
std::uint64_t find_code(JobRun& run, std::string& reason) {
  ChaseProbe probe;
  probe.lanes = {{.sm = 0, .offsets_bytes = {0}, .path = LoadPath::instruction}};
  probe.timed_accesses = 1;
  probe.recorded_accesses = 1;
  const ChaseSetup setup = set_up_chase(run, LoadPath::instruction, RecordSpace::longest);
  for (std::uint64_t bytes = most_code_bytes(setup); bytes >= least_code_bytes; bytes /= 2) {
    probe.buffer_bytes = bytes;
    const auto refusal = refusal_of([&] { run.run("code of a size", probe); });
    if (!refusal) return bytes;
    reason = *refusal;
  }
  return 0;
}

}  // namespace

void run_cache_instruction(JobRun& run) {
  CachePath path{
      .path = LoadPath::instruction,
      .caches = {"cache.instruction_l1", "cache.instruction_l2", "cache.instruction_l3"}};
  if (run.info().sm_partition_instruction_caches) {
    path.caches.insert(path.caches.begin(), "cache.instruction_l0");
  } else {
    run.report_rest("cache.instruction_l0.", Status::not_present,
                    "parts of an SM have no instruction cache of their own on this GPU");
  }
  std::string reason;
  path.space_bytes = path.survey_bytes = find_code(run, reason);
  PathSurvey survey;
  if (path.space_bytes > 0) {
    survey = survey_path(run, path);
  } else {
    survey.no_more = reason;
  }
  for (std::size_t level = 0; level < path.caches.size(); ++level)
    characterize_level(run, path, survey, level);
}

}  // namespace sonde
