// Job `cache.l3`: a cache on the side of the memory, behind the L2 (AMD's Infinity Cache). It
// answers whatever misses in the L2 as long as it holds it, sooner than the memory does. Method:
// docs/methods/cache-levels.md.
#include "analysis/statistics.hpp"
#include "analysis/structure/latency/latency_gaps.hpp"
#include "base/gpu_facts.hpp"
#include "base/units.hpp"
#include "jobs/cache/path_levels.hpp"
#include "jobs/chase/known_latencies.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace sonde {
namespace {

/// A steady chase through so much memory, once in every line of the L2.
std::vector<double> chase_span(JobRun& run, const ChaseSetup& setup, std::uint64_t span_bytes,
                               std::uint64_t line_bytes) {
  constexpr std::uint64_t enough = 4096;
  ChasePlan plan =
      steady_plan(setup, span_bytes / line_bytes * line_bytes, line_bytes, run.seed(), enough);
  plan.warmup_passes = 1;
  return measure_chase(run, setup, fmt::format("cache.l3 span {}", span_bytes), plan).cycles;
}

/// Who serves half of the loads of twice the L2 and more, if it is neither the L2 nor the memory.
std::optional<LatencyClass> find_behind_l2(const LatencyClass& l2, const LatencyClass& memory,
                                           const std::vector<double>& beyond,
                                           std::uint64_t span_bytes) {
  for (LatencyClass& found : find_latency_classes({{span_bytes, beyond}}, least_level_gap_cycles)) {
    if (found.low_cycles > l2.high_cycles + least_level_gap_cycles &&
        median(found.cycles) < memory.low_cycles - least_memory_gap_cycles) {
      return std::move(found);
    }
  }
  return std::nullopt;
}

/// The L2's size, or what it lies below.
std::optional<std::uint64_t> most_l2_bytes(const JobRun& run) {
  const Finding* size = run.finding("cache.l2.size_bytes");
  if (size == nullptr) return std::nullopt;
  const double bytes = *run.number("cache.l2.size_bytes");
  return static_cast<std::uint64_t>(size->interval ? std::max(bytes, size->interval->high) : bytes);
}

}  // namespace

void run_cache_l3(JobRun& run) {
  const auto l2_bytes = most_l2_bytes(run);
  const auto line_bytes = run.number("cache.l2.line_bytes");
  if (!l2_bytes || !line_bytes) {
    return run.report_rest("", Status::not_resolvable,
                           "the size or the line of the L2 before it is not known");
  }
  const auto step_bytes = static_cast<std::uint64_t>(*line_bytes);
  const CachePath path{.path = LoadPath::past_l1,
                       .record_space = RecordSpace::longest,
                       .caches = {"cache.l2", "cache.l3"},
                       .survey_bytes = std::min(largest_l2_bytes, run.info().memory_bytes / 4)};
  PathSurvey survey;
  survey.chase = set_up_chase(run, path.path, path.record_space);
  const LatencyClass memory =
      class_of(measure_memory_latencies(run, survey.chase, "cache.l3 memory", run.seed()));
  const LatencyClass l2 = class_of(chase_span(run, survey.chase, *l2_bytes / 4, step_bytes));
  const std::uint64_t beyond_bytes = 2 * *l2_bytes;
  const std::vector<double> beyond = chase_span(run, survey.chase, beyond_bytes, step_bytes);
  auto side = find_behind_l2(l2, memory, beyond, beyond_bytes);
  if (!side) {
    return run.report_rest(
        "", Status::not_present,
        fmt::format("loads of twice what the L2 holds take {:.0f} cycles, those that only the "
                    "memory can serve {:.0f}",
                    median(beyond), median(memory.cycles)));
  }
  survey.caches = {l2, *std::move(side)};
  survey.behind = memory;
  report_unanswered(run, "cache.l3", characterize_level(run, path, survey, 1));
}

}  // namespace sonde
