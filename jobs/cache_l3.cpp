// Job `cache.l3`: a cache on the side of the memory, behind the L2 (AMD's Infinity Cache). It
// answers whatever misses in the L2 as long as it holds it, sooner than the memory does. Method:
// docs/methods/cache-levels.md.
#include "analysis/statistics.hpp"
#include "analysis/structure/latency/latency_gaps.hpp"
#include "base/gpu_facts.hpp"
#include "base/units.hpp"
#include "jobs/cache/memory_side.hpp"
#include "jobs/cache/path_levels.hpp"
#include "jobs/chase/known_latencies.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace sonde {
namespace {

/// Where the size of the L2 lies; of a divided one, whose size is not known, as far as one SM fills
/// it.
std::optional<Interval> l2_bytes(const JobRun& run) {
  for (const char* metric :
       {"cache.l2.size_bytes", "cache.l2.segment_bytes", "cache.l2.first_miss_bytes"}) {
    const Finding* size = run.finding(metric);
    if (size == nullptr) continue;
    const double bytes = *run.number(metric);
    if (!size->interval) return Interval{bytes, bytes};
    return Interval{std::min(bytes, size->interval->low), std::max(bytes, size->interval->high)};
  }
  return std::nullopt;
}

/// From what the L2 surely holds to twice what it does, or four times what it may where that is
/// known roughly. Of all its lines: one with shorter lines than are touched holds more than that.
SurveyedSpans spans_around(const Interval& l2_bytes, double step_bytes, double memory_cycles) {
  constexpr double known_well = 1.25;
  const double spans = l2_bytes.high <= known_well * l2_bytes.low ? 2 : 4;
  return {.from_bytes = static_cast<std::uint64_t>(l2_bytes.low),
          .to_bytes = static_cast<std::uint64_t>(spans * l2_bytes.high),
          .step_bytes = static_cast<std::uint64_t>(step_bytes),
          .memory_cycles = memory_cycles};
}

/// Lines on the side of the memory may be shorter than what the L2 asks for: 64 B behind 128 B on
/// RDNA 2.
std::uint64_t asked_bytes(const JobRun& run) {
  return static_cast<std::uint64_t>(run.number("cache.l2.fetch_bytes").value_or(0));
}

/// Hits of the L2, of several partitions of the farthest.
double highest_l2_cycles(const JobRun& run, const std::vector<double>& hits) {
  return std::max(quantile(hits, 0.98), run.number("cache.l2.far_hit_latency_cycles").value_or(0));
}

/// Loads past the L1 may meet a cache in front of the L2: then its hits are what comes later of a
/// footprint that the L2 holds.
void leave_cache_before_l2(const JobRun& run, const FootprintChase& held,
                           std::vector<double>& hits) {
  const double soonest = least_share_of_l2 * run.number("cache.l2.hit_latency_cycles").value_or(0);
  if (median(hits) >= soonest) return;
  std::vector<double> later = held.cycles;
  std::erase_if(later, [&](double cycles) { return cycles < soonest; });
  if (!later.empty()) hits = std::move(later);
}

}  // namespace

void run_cache_l3(JobRun& run) {
  const auto l2_range = l2_bytes(run);
  const auto step_bytes = step_of_cache(run, "cache.l2");
  if (!l2_range || !step_bytes) {
    return run.report_rest("", Status::not_resolvable,
                           "the size of the L2 before it, or what a miss brings, is not known");
  }
  const CachePath path{.path = LoadPath::past_l1,
                       .record_space = RecordSpace::longest,
                       .caches = {"cache.l2", "cache.l3"},
                       .survey_bytes = std::min(largest_l2_bytes, run.info().memory_bytes / 4),
                       .asked_bytes = asked_bytes(run)};
  PathSurvey survey;
  survey.chase = set_up_chase(run, path.path, path.record_space);
  const std::vector<double> memory = measure_memory_latencies(run, survey.chase, "cache.l3 memory",
                                                              run.seed(), 3, smallest_page_bytes);
  const double memory_cycles = quantile(memory, 0.05);
  std::vector<double> hits = measure_resident_latencies(run, survey.chase, "cache.l3 L2 hits");
  const auto chases = survey_spans(run, survey.chase, "cache.l3 span",
                                   spans_around(*l2_range, *step_bytes, memory_cycles));
  leave_cache_before_l2(run, chases.front(), hits);
  auto side = find_between(chases, highest_l2_cycles(run, hits), memory_cycles);
  if (!side) {
    return run.report_rest(
        "", Status::not_present,
        fmt::format("no load of {} footprints up to {} takes longer than a hit of the L2 and less "
                    "than from the memory ({:.0f} cycles), but slow translations",
                    chases.size(), format_bytes(static_cast<double>(chases.back().span_bytes)),
                    median(memory)));
  }
  if (!side->serves_half()) {
    return run.report_rest(
        "", Status::not_resolvable,
        fmt::format(
            "{:.0f} % of what misses of {} takes {:.0f} cycles, longer than a hit of the L2 "
            "and less than from the memory, but of no footprint half",
            100 * side->share, format_bytes(static_cast<double>(side->served.first_span_bytes)),
            median(side->served.cycles)));
  }
  survey.caches = {class_of(hits), std::move(side->served)};
  survey.behind = class_of(memory);
  report_unanswered(run, "cache.l3", characterize_level(run, path, survey, 1));
}

}  // namespace sonde
