// The survey of a path sorts latencies into caches; then each of them goes through the steps of
// jobs/cache/geometry and jobs/sets, and becomes findings.
#include "jobs/cache/path_levels.hpp"

#include "analysis/statistics.hpp"
#include "analysis/structure/latency/latency_gaps.hpp"
#include "base/gpu_facts.hpp"
#include "base/random.hpp"
#include "base/units.hpp"
#include "jobs/cache/cache_probe.hpp"
#include "jobs/cache/code_sets.hpp"
#include "jobs/cache/data_pressure.hpp"
#include "jobs/cache/every_sm.hpp"
#include "jobs/cache/fetch_and_line.hpp"
#include "jobs/cache/geometry.hpp"
#include "jobs/cache/l2_partitions.hpp"
#include "jobs/cache/report.hpp"
#include "jobs/cache/writes_and_prefetch.hpp"
#include "jobs/chase/known_latencies.hpp"
#include "jobs/run/attempt.hpp"
#include "jobs/run/clock_window.hpp"
#include "jobs/sets/search.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace sonde {
namespace {

constexpr std::uint64_t smallest_footprint_bytes = 1_KiB;
constexpr std::uint64_t shortest_line_bytes = 64;  // of caches in front of the L2, but textures'

// What lies in front of the L2 answers sooner than the L2 does; the paths to it differ by some
// cycles (texture filters, calls of code), on GPUs known by up to a third.
constexpr double least_share_of_l2 = 0.75;

/// Steady chases through footprints in half octaves; once in every 64 bytes, the shortest line of
/// such caches but for textures', and once in 256, the longest.
std::vector<FootprintChase> chase_footprints(JobRun& run, const CachePath& path,
                                             const ChaseSetup& setup) {
  constexpr std::uint64_t enough = 1024;
  std::vector<FootprintChase> chases;
  const std::uint64_t dense_step = std::max<std::uint64_t>(64, access_bytes(path.path));
  for (std::uint64_t octave = smallest_footprint_bytes; octave <= path.survey_bytes; octave *= 2) {
    for (std::uint64_t span_bytes : {octave, octave / 2 * 3}) {
      if (span_bytes > path.survey_bytes) continue;
      for (std::uint64_t step_bytes : {dense_step, std::uint64_t{256}}) {
        ChasePlan plan =
            steady_plan(setup, span_bytes, step_bytes, derive_seed(run.seed(), "survey"), enough);
        plan.passes = std::max<std::uint64_t>(1, enough / 4 / plan.recorded);
        // Constants and code have no translations that would be slow.
        if (path.space_bytes == 0) plan.offsets = page_by_page(std::move(plan.offsets));
        const std::string label =
            fmt::format("{} span {} step {}", path.caches.front(), span_bytes, step_bytes);
        chases.push_back({span_bytes, measure_chase(run, setup, label, plan).cycles});
      }
    }
  }
  return chases;
}

/// Latencies of what no cache holds.
/// @pre nothing of a space of its own was accessed before: no flush empties caches of code, so the
/// rest of the space goes first, and each part is accessed once
std::vector<double> measure_cold(JobRun& run, const CachePath& path, const ChaseSetup& setup) {
  const std::string label = path.caches.front() + " cold";
  if (path.space_bytes == 0) return measure_memory_latencies(run, setup, label, run.seed());
  constexpr std::uint64_t parts = 3;
  const std::uint64_t part_bytes = std::min(path.space_bytes / 8, constant_bank_bytes);
  const std::uint64_t step_bytes = std::max(shortest_line_bytes, access_bytes(path.path));
  std::vector<double> latencies;
  for (std::uint64_t part = 0; part < parts; ++part) {
    ChasePlan plan{.warmup_passes = 0, .preparation = Preparation::flushed};
    for (std::uint64_t rest = parts * part_bytes; rest < path.space_bytes; rest += step_bytes)
      plan.offsets.push_back(rest);
    plan.skipped = plan.offsets.size();
    for (std::uint64_t offset : descending_order(part_bytes, longest_line_bytes))
      plan.offsets.push_back(part * part_bytes + offset);
    const std::vector<double> of_part = measure_chase(run, setup, label, plan).cycles;
    latencies.insert(latencies.end(), of_part.begin(), of_part.end());
  }
  return latencies;
}

/// Share of the loads of a chase that came from this class.
double share_of(const LatencyClass& found, const std::vector<double>& cycles) {
  const auto served = std::ranges::count_if(cycles, [&](double latency) {
    return latency >= found.low_cycles - least_hit_gap_cycles &&
           latency <= found.high_cycles + least_hit_gap_cycles;
  });
  return static_cast<double>(served) / static_cast<double>(cycles.size());
}

/// Whether lines in half of what the L2 keeps for one SM are served by this class, or as many of
/// them as one of several partitions serves, of those that no inner cache holds.
bool serves_half_the_l2(JobRun& run, const CachePath& path, const ChaseSetup& setup,
                        const LatencyClass& found) {
  auto l2_bytes = run.number("cache.l2.segment_bytes");
  if (!l2_bytes) l2_bytes = run.number("cache.l2.size_bytes");
  if (!l2_bytes) return true;
  constexpr std::uint64_t enough = 2048;
  // Each of two partitions serves half, less what random replacement loses and translations delay.
  constexpr double least_share = 0.3;
  constexpr double least_left = 0.05;  // fewer are outliers: inner caches hold it all
  ChasePlan plan = overflowing_plan(setup, static_cast<std::uint64_t>(*l2_bytes) / 2,
                                    shortest_line_bytes, run.seed(), enough);
  plan.offsets = page_by_page(std::move(plan.offsets));
  std::vector<double> cycles =
      measure_chase(run, setup, path.caches.front() + " half the L2", plan).cycles;
  const auto all = static_cast<double>(cycles.size());
  std::erase_if(cycles,
                [&](double of_load) { return of_load < found.low_cycles - least_hit_gap_cycles; });
  if (static_cast<double>(cycles.size()) < least_left * all) return true;
  return share_of(found, cycles) >= least_share;
}

/// How soon the L2 answers, of several partitions the nearest.
std::optional<double> soonest_l2_cycles(const JobRun& run) {
  const Finding* hits = run.finding("cache.l2.hit_latency_cycles");
  if (hits == nullptr) return std::nullopt;
  if (!hits->modes.empty()) return std::ranges::min(hits->modes);
  return run.number("cache.l2.hit_latency_cycles");
}

bool is_l2(JobRun& run, const CachePath& path, const ChaseSetup& setup, const LatencyClass& found) {
  const auto l2_cycles = soonest_l2_cycles(run);
  if (!l2_cycles || median(found.cycles) < least_share_of_l2 * *l2_cycles) return false;
  return path.space_bytes > 0 || serves_half_the_l2(run, path, setup, found);
}

/// The last class of a space of its own to come as footprints grow, with its other partition, if it
/// has one: others serve hardly any load of the largest footprint. `served` if it is too fast.
std::size_t last_as_slow_as_l2(JobRun& run, const CachePath& path, const ChaseSetup& setup,
                               const std::vector<FootprintChase>& chases,
                               const std::vector<LatencyClass>& classes, std::size_t served) {
  constexpr double hardly_any = 0.2;
  std::size_t l2 = served;
  while (l2 > 0 && is_l2(run, path, setup, classes[l2 - 1]) &&
         (l2 == served ||
          (l2_is_divided(run) && share_of(classes[l2 - 1], chases.back().cycles) >= hardly_any))) {
    --l2;
  }
  return l2;
}

/// Of a space of its own, whose caches may be as slow as the L2: the innermost of the last classes
/// that lose their lines to data. Where that cannot be asked, the last.
/// @param survey says that nothing is known behind its caches, if the L2 keeps data, too
std::size_t find_l2_of_space(JobRun& run, const CachePath& path,
                             const std::vector<FootprintChase>& chases,
                             const std::vector<LatencyClass>& classes, std::size_t served,
                             PathSurvey& survey) {
  const ChaseSetup& setup = survey.chase;
  std::size_t l2 = served;
  while (l2 > 0 && is_l2(run, path, setup, classes[l2 - 1])) {
    const UnderData under = chase_under_data(run, setup, path.caches.front(), classes[l2 - 1]);
    if (under == UnderData::survives) return l2;
    if (under == UnderData::not_told) survey.may_be_cache = l2 == served;
    if (under != UnderData::leaves) {
      return l2 == served ? last_as_slow_as_l2(run, path, setup, chases, classes, served) : l2;
    }
    --l2;
  }
  return l2;
}

/// Number of the class that is the L2's, or of the first of several (partitions); `served` if none
/// of the first `served` is. Of global memory it is the innermost that is as slow as the L2: what
/// lies behind may be slow translations, or a cache on the memory's side.
std::size_t find_l2(JobRun& run, const CachePath& path, const std::vector<FootprintChase>& chases,
                    const std::vector<LatencyClass>& classes, std::size_t served,
                    PathSurvey& survey) {
  if (path.space_bytes > 0) return find_l2_of_space(run, path, chases, classes, served, survey);
  std::size_t first = 0;
  while (first < served && !is_l2(run, path, survey.chase, classes[first])) ++first;
  return first;
}

/// Sorts the classes into caches of the path and what lies behind them.
void sort_classes(JobRun& run, const CachePath& path, const std::vector<FootprintChase>& chases,
                  const std::vector<double>& cold, PathSurvey& survey) {
  std::vector<LatencyClass> classes = find_latency_classes(chases, least_level_gap_cycles);
  std::size_t served = classes.size();  // by caches; the others by the memory, near or far
  const double soonest_cold = quantile(cold, 0.1);
  // What answers sooner than the L2 is no memory: a cache of code that holds all of the space.
  const auto l2_cycles = run.number("cache.l2.hit_latency_cycles");
  const bool is_cold = !l2_cycles || soonest_cold > least_share_of_l2 * *l2_cycles;
  while (is_cold && served > 0 &&
         soonest_cold < classes[served - 1].high_cycles + least_level_gap_cycles) {
    --served;
  }
  const std::size_t l2 = find_l2(run, path, chases, classes, served, survey);
  survey.caches.assign(classes.begin(), classes.begin() + static_cast<std::ptrdiff_t>(l2));
  if (l2 < served) {
    survey.no_more = fmt::format(
        "misses are served by the L2{}: after {:.0f} cycles, plain loads by it after {:.0f}",
        survey.may_be_cache ? ", or by a cache as slow that holds all" : "",
        median(classes[l2].cycles), *run.number("cache.l2.hit_latency_cycles"));
    survey.behind = std::move(classes[l2]);
  } else if (served < classes.size()) {
    survey.no_more = fmt::format("misses are served by the memory, after {:.0f} cycles",
                                 median(classes[served].cycles));
    survey.behind = std::move(classes[served]);
  } else {
    survey.last_is_full = true;
    survey.behind = class_of(cold);
    survey.no_more = fmt::format("the cache before it holds all of {}, whatever lies behind",
                                 format_bytes(path.survey_bytes));
  }
}

/// What lies between a cache and the loads.
std::optional<InnerCaches> describe_inner(JobRun& run, const CachePath& path,
                                          const PathSurvey& survey, std::size_t level,
                                          std::string& reason) {
  InnerCaches inner;
  inner.threshold_cycles = threshold_between(survey.caches[level - 1], survey.caches[level]);
  inner.asked_bytes = path.asked_bytes;
  for (std::size_t i = 0; i < level; ++i) {
    const auto size_bytes = run.number(path.caches[i] + ".size_bytes");
    auto line_bytes = run.number(path.caches[i] + ".line_bytes");
    // Of code blocks are accessed, of one line or several.
    if (path.path == LoadPath::instruction)
      line_bytes = std::max(line_bytes.value_or(0), static_cast<double>(access_bytes(path.path)));
    if (!size_bytes || !line_bytes) {
      reason = fmt::format("{} lies before it, and its size or line is not known", path.caches[i]);
      return std::nullopt;
    }
    inner.size_bytes = std::max(inner.size_bytes, static_cast<std::uint64_t>(*size_bytes));
    const auto bytes = static_cast<std::uint64_t>(*line_bytes);
    inner.line_bytes = i == 0 ? bytes : std::min(inner.line_bytes, bytes);
  }
  return inner;
}

/// What it does with stores and streams, as far as its path has them.
void report_behaviour(const CacheUnderTest& cache, const CacheGeometry& geometry) {
  if (cache.space_bytes > 0) {
    cache.run.report(
        not_present(cache.name + ".write_policy", "nothing stores to constants or code"));
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
  if (const auto fetch = measure_fetch(cache)) {
    cache.run.report(found(cache.name + ".fetch_bytes", static_cast<double>(fetch->bytes),
                           fetch->agreement, fetch->observations));
  }
  cache.run.report(found_median(cache.name + ".hit_latency_cycles", hits.cycles));
  const bool constant = path.path == LoadPath::constant;
  return {Status::not_resolvable, fmt::format("holds {}: {} or more",
                                              constant ? "the whole constant bank"
                                                       : "every footprint that can be asked for",
                                              format_bytes(path.survey_bytes))};
}

/// A cache that footprints overflow: all about it but its latencies.
Unanswered report_structure(CacheUnderTest cache, const std::string& inner_cache) {
  std::string reason;
  auto geometry = measure_geometry(cache, reason);
  if (!geometry) return {Status::not_resolvable, reason};
  measure_size(cache, *geometry);
  // Sets of the caches of code are hardly ever found: all SMs execute the same blocks.
  const bool every_sm = !cache.inner && cache.chase.path != LoadPath::instruction;
  if (every_sm) leave_odd_sms(cache, *geometry);
  if (!geometry->accesses_are_lines()) {
    report_geometry(cache, *geometry, {.inner_cache = inner_cache});
    report_behaviour(cache, *geometry);
    if (geometry->line_is_known())
      return {Status::not_resolvable, report_sets_of_last_lines(cache, *geometry)};
    return {Status::not_resolvable,
            "code is executed in blocks of 128 bytes, which are several lines or may be: their "
            "sets are not those of single lines"};
  }
  if (const std::string too_many = why_too_many_lines(*geometry); !too_many.empty()) {
    report_geometry(cache, *geometry, {.inner_cache = inner_cache});
    report_behaviour(cache, *geometry);
    return {Status::not_resolvable, too_many};
  }
  CacheProbe probe(cache, geometry->size_bytes(), geometry->line_bytes,
                   geometry->line_confidence());
  const SetFindings sets = characterize_sets_of_lines(probe, *geometry);
  if (every_sm) report_every_sm(cache, probe, sets);
  report_geometry(cache, *geometry, {.inner_cache = inner_cache});
  report_behaviour(cache, *geometry);
  return {Status::not_resolvable, sets.reason};
}

}  // namespace

PathSurvey survey_path(JobRun& run, const CachePath& path) {
  PathSurvey survey;
  survey.chase = set_up_chase(run, path.path, path.record_space);
  std::vector<double> cold;
  std::vector<FootprintChase> chases;
  const auto refusal = refusal_of([&] {
    cold = measure_cold(run, path, survey.chase);
    chases = chase_footprints(run, path, survey.chase);
  });
  if (refusal) {
    survey.no_more = *refusal;
    return survey;
  }
  sort_classes(run, path, chases, cold, survey);
  return survey;
}

Unanswered characterize_level(JobRun& run, const CachePath& path, const PathSurvey& survey,
                              std::size_t level) {
  if (level >= survey.caches.size()) {
    // Behind a cache that holds every footprint there may be others.
    const bool may_be_more = survey.last_is_full || survey.may_be_cache;
    return {may_be_more ? Status::not_resolvable : Status::not_present, survey.no_more};
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
  return report_structure(cache, path.caches[level - 1]);
}

void report_unanswered(JobRun& run, const std::string& cache, const Unanswered& unanswered) {
  if (unanswered.status == Status::ok) return;
  run.report_rest(cache + ".", unanswered.status, unanswered.reason);
}

}  // namespace sonde
