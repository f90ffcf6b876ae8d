// Each cache that the survey of a path saw goes through the steps of jobs/cache/geometry and
// jobs/sets, and becomes findings.
#include "jobs/cache/path_levels.hpp"

#include "analysis/structure/latency/latency_gaps.hpp"
#include "base/random.hpp"
#include "base/units.hpp"
#include "device/device_error.hpp"
#include "jobs/cache/cache_probe.hpp"
#include "jobs/cache/doubtful_line.hpp"
#include "jobs/cache/every_sm.hpp"
#include "jobs/cache/fetch_and_line.hpp"
#include "jobs/cache/geometry.hpp"
#include "jobs/cache/report.hpp"
#include "jobs/cache/writes_and_prefetch.hpp"
#include "jobs/run/clock_window.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace sonde {
namespace {

/// What lies between a cache and the loads.
std::optional<InnerCaches> describe_inner(JobRun& run, const CachePath& path,
                                          const PathSurvey& survey, std::size_t level,
                                          std::string& reason) {
  InnerCaches inner;
  inner.threshold_cycles = threshold_between(survey.caches[level - 1], survey.caches[level]);
  for (std::size_t i = 0; i < level; ++i) {
    const auto size_bytes = run.number(path.caches[i] + ".size_bytes");
    auto line_bytes = step_of_cache(run, path.caches[i]);
    // Of code blocks are accessed, of one line or several.
    if (path.path == LoadPath::instruction)
      line_bytes = std::max(line_bytes.value_or(0), static_cast<double>(access_bytes(path.path)));
    if (!size_bytes || !line_bytes) {
      reason = fmt::format("{} lies before it, and its size, or what a miss brings, is not known",
                           path.caches[i]);
      return std::nullopt;
    }
    inner.size_bytes = std::max(inner.size_bytes, static_cast<std::uint64_t>(*size_bytes));
    const auto bytes = static_cast<std::uint64_t>(*line_bytes);
    inner.line_bytes = i == 0 ? bytes : std::min(inner.line_bytes, bytes);
  }
  return inner;
}

/// What it does with stores and streams, as far as its path has them; code has neither.
void report_behaviour(const CacheUnderTest& cache, const CacheGeometry& geometry) {
  if (cache.space_bytes > 0) {
    cache.run.report(not_present(cache.name + ".write_policy", "nothing stores to constants"));
    if (2 * geometry.size_bytes() > cache.space_bytes) {
      return cache.run.report(not_resolvable(
          cache.name + ".prefetch_bytes", "it holds more than half of all that can be asked for"));
    }
  } else {
    report_write_policy(cache, geometry.line_bytes);
  }
  report_prefetch(cache, geometry.fetch.bytes);
}

/// A cache that no footprint overflows: its hits, and what one miss brings.
Unanswered report_full(const CacheUnderTest& cache, const CachePath& path,
                       const LatencyClass& hits) {
  if (const auto fetch = measure_fetch(cache)) report_fetch(cache, *fetch);
  cache.run.report(found_median(cache.name + ".hit_latency_cycles", hits.cycles));
  const bool constant = path.path == LoadPath::constant;
  return {Status::not_resolvable, fmt::format("holds {}: {} or more",
                                              constant ? "the whole constant bank"
                                                       : "every footprint that can be asked for",
                                              format_bytes(path.survey_bytes))};
}

/// As report_structure. @throws ProbeTooLargeError if a list is longer than the device can chase
Unanswered measure_structure(CacheUnderTest cache, const std::string& inner_cache) {
  std::string reason;
  auto geometry = measure_geometry(cache, reason);
  if (!geometry) return {Status::not_resolvable, reason};
  measure_size(cache, *geometry);
  if (cache.chase.path == LoadPath::instruction) {
    report_geometry(cache, *geometry, {.inner_cache = inner_cache});
    return {};
  }
  if (!cache.inner) leave_odd_sms(cache, *geometry);
  if (const std::string no_sets = why_too_many_lines(*geometry); !no_sets.empty()) {
    report_geometry(cache, *geometry, {.inner_cache = inner_cache});
    report_behaviour(cache, *geometry);
    return {Status::not_resolvable, no_sets};
  }
  settle_doubtful_line(cache, *geometry);
  CacheProbe probe(cache, geometry->size_bytes(), geometry->line_bytes,
                   geometry->line_confidence());
  const SetFindings sets = characterize_sets_of_lines(cache, probe, *geometry);
  if (!cache.inner) geometry->filled_bytes = sets.filled_bytes();
  if (sets.confirmed() && geometry->line_is_known())
    take_size_of_sets(sets.layout, geometry->line_bytes, *geometry);
  if (!cache.inner) report_every_sm(cache, probe, sets);
  report_geometry(cache, *geometry, {.inner_cache = inner_cache});
  report_behaviour(cache, *geometry);
  return {Status::not_resolvable, sets.reason};
}

/// A cache that footprints overflow: all about it but its latencies.
Unanswered report_structure(CacheUnderTest cache, const std::string& inner_cache) {
  try {
    return measure_structure(std::move(cache), inner_cache);
  } catch (const ProbeTooLargeError& error) {
    return {Status::not_resolvable, error.what()};
  }
}

}  // namespace

std::optional<double> step_of_cache(const JobRun& run, const std::string& cache) {
  const auto line_bytes = run.number(cache + ".line_bytes");
  return line_bytes ? line_bytes : run.number(cache + ".fetch_bytes");
}

Unanswered characterize_level(JobRun& run, const CachePath& path, const PathSurvey& survey,
                              std::size_t level) {
  if (level >= survey.caches.size()) {
    // Behind a cache that holds every footprint there may be others.
    return {survey.last_is_full ? Status::not_resolvable : Status::not_present, survey.no_more};
  }
  const LatencyClass& hits = survey.caches[level];
  const LatencyClass& misses = survey.misses_of(level);
  CacheUnderTest cache{.run = run, .name = path.caches.at(level), .chase = survey.chase};
  cache.threshold_cycles = threshold_between(hits, misses);
  cache.limit_bytes = path.space_bytes > 0 ? path.space_bytes : path.survey_bytes;
  cache.seed = derive_seed(run.seed(), cache.name);
  cache.space_bytes = path.space_bytes;
  if (survey.last_is_full && level + 1 == survey.caches.size()) {
    // What lies behind was seen cold alone: the L2 may answer sooner than the memory did.
    cache.threshold_cycles = hits.high_cycles + least_level_gap_cycles;
    return report_full(cache, path, hits);
  }
  report_latencies(run, cache.name, {.samples = {hits.cycles}}, {.samples = {misses.cycles}});
  if (level == 0) return report_structure(cache, {});
  std::string reason;
  cache.inner = describe_inner(run, path, survey, level, reason);
  if (!cache.inner) return {Status::not_resolvable, reason};
  // Lines that an inner cache kept from earlier chases are met here once it has lost them, half of
  // those of an overfull set of two random ways in each pass.
  constexpr std::uint64_t passes_behind_others = 8;
  cache.settling_passes = passes_behind_others;
  return report_structure(std::move(cache), path.caches[level - 1]);
}

void report_unanswered(JobRun& run, const std::string& cache, const Unanswered& unanswered) {
  if (unanswered.status == Status::ok) return;
  run.report_rest(cache + ".", unanswered.status, unanswered.reason);
}

}  // namespace sonde
