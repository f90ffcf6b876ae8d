// Characterizes each cache that the survey of a path saw, by the steps of jobs/cache/geometry and
// jobs/sets, and reports it.
#include "jobs/cache/path_levels.hpp"

#include "analysis/statistics.hpp"
#include "analysis/structure/latency/latency_classes.hpp"
#include "base/gpu_facts.hpp"
#include "base/random.hpp"
#include "base/units.hpp"
#include "device/device_error.hpp"
#include "jobs/cache/cache_probe.hpp"
#include "jobs/cache/every_sm.hpp"
#include "jobs/cache/fetch_and_line.hpp"
#include "jobs/cache/geometry.hpp"
#include "jobs/cache/known_array.hpp"
#include "jobs/cache/report.hpp"
#include "jobs/cache/writes_and_prefetch.hpp"
#include "jobs/chase/known_latencies.hpp"
#include "jobs/run/attempt.hpp"
#include "jobs/run/clock_window.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>

namespace sonde {
namespace {

/// The caches before a cache on its path.
std::optional<InnerCaches> describe_inner(JobRun& run, const CachePath& path,
                                          const PathSurvey& survey, std::size_t level,
                                          std::string& reason) {
  InnerCaches inner;
  inner.threshold_cycles = threshold_between(survey.caches[level - 1], survey.caches[level]);
  for (std::size_t i = 0; i < level; ++i) {
    const auto size_bytes = run.number(path.caches[i] + ".size_bytes");
    auto line_bytes = step_of_cache(run, path.caches[i]);
    // Code is accessed by blocks of one or several lines.
    if (path.path == LoadPath::instruction)
      line_bytes = std::max(line_bytes.value_or(0), static_cast<double>(access_bytes(path.path)));
    if (!size_bytes || !line_bytes) {
      reason = fmt::format("the size or the fetch of {}, a level before it, is not known",
                           path.caches[i]);
      return std::nullopt;
    }
    inner.size_bytes = std::max(inner.size_bytes, static_cast<std::uint64_t>(*size_bytes));
    const auto bytes = static_cast<std::uint64_t>(*line_bytes);
    inner.line_bytes = i == 0 ? bytes : std::min(inner.line_bytes, bytes);
  }
  return inner;
}

/// Reports write policy and prefetch, if the path has stores and streams; code has neither.
void report_behaviour(const CacheUnderTest& cache, const CacheGeometry& geometry) {
  if (cache.space_bytes > 0) {
    cache.run.report(not_present(cache.name + ".write_policy", "nothing stores to constants"));
    if (2 * geometry.size_bytes() > cache.space_bytes) {
      return cache.run.report(not_resolvable(cache.name + ".prefetch_bytes",
                                             "it holds more than half of the memory of this path"));
    }
  } else {
    report_write_policy(cache, geometry.line_bytes);
  }
  report_prefetch(cache, geometry.fetch.bytes);
}

/// Reports a cache that holds every footprint: the latency of its hits, and its fetch.
void report_full(const CacheUnderTest& cache, const CachePath& path, const LatencyClass& hits) {
  if (const auto fetch = measure_fetch(cache)) report_fetch(cache, *fetch);
  cache.run.report(found_median(cache.name + ".hit_latency_cycles", hits.cycles));
  const bool constant = path.path == LoadPath::constant;
  cache.run.leave_open(cache.name + ".", fmt::format("holds {}: {} or more",
                                                     constant ? "the whole constant bank"
                                                              : "every possible footprint",
                                                     format_bytes(path.survey_bytes)));
}

/// Reports everything except the latencies of a cache that some footprints overflow.
/// @throws ProbeTooLargeError if a list is longer than the device can chase
void report_structure(CacheUnderTest cache, const std::string& inner_cache) {
  std::optional<CacheGeometry> geometry;
  // Texture fetches may use the same array as plain loads.
  if (!cache.inner && cache.space_bytes == 0) {
    if (const auto known = try_known_array(cache, "cache.l1")) {
      if (known->is_same()) return report_as_known(cache, *known);
      geometry = geometry_of(cache, *known);
    }
  }
  if (!geometry) {
    std::string reason;
    geometry = measure_geometry(cache, reason);
    if (!geometry) return cache.run.leave_open(cache.name + ".", reason);
    geometry = measure_size(cache, *geometry);
  }
  if (cache.chase.path == LoadPath::instruction)
    return report_geometry(cache, *geometry, {.inner_cache = inner_cache});
  if (!cache.inner) leave_odd_sms(cache, *geometry);
  std::string no_sets = why_too_many_lines(geometry->part_bytes() / geometry->line_bytes);
  if (no_sets.empty()) {
    CacheProbe probe(cache, geometry->size_bytes(), geometry->line_bytes);
    const CacheStructure structure = characterize_sets(probe, *geometry);
    geometry = structure.geometry;
    no_sets = structure.sets.reason;
    if (!cache.inner) report_every_sm(cache, probe, structure.sets);
  }
  report_geometry(cache, *geometry, {.inner_cache = inner_cache});
  report_behaviour(cache, *geometry);
  cache.run.leave_open(cache.name + ".", no_sets);
}

}  // namespace

std::optional<double> step_of_cache(const JobRun& run, const std::string& cache) {
  constexpr double sure = 0.9;
  const Finding* line = run.finding(cache + ".line_bytes");
  const auto fetch_bytes = run.number(cache + ".fetch_bytes");
  if (line == nullptr || (fetch_bytes && line->confidence < sure)) return fetch_bytes;
  return std::get<double>(line->value);
}

void characterize_level(JobRun& run, const CachePath& path, const PathSurvey& survey,
                        std::size_t level) {
  const std::string& name = path.caches.at(level);
  if (level >= survey.caches.size()) {
    // Other caches may follow a cache that holds every footprint.
    const bool is_open = survey.last_is_full || survey.may_go_on;
    return run.report_rest(name + ".", is_open ? Status::not_resolvable : Status::not_present,
                           survey.no_more);
  }
  const LatencyClass& hits = survey.caches[level];
  const LatencyClass& misses = survey.misses_of(level);
  CacheUnderTest cache{.run = run, .name = name, .chase = survey.chase};
  cache.threshold_cycles = threshold_between(hits, misses);
  cache.limit_bytes = path.space_bytes > 0 ? path.space_bytes : path.survey_bytes;
  cache.seed = derive_seed(run.seed(), cache.name);
  cache.space_bytes = path.space_bytes;
  if (survey.last_is_full && level + 1 == survey.caches.size()) {
    // The next level was only seen cold: the L2 may be faster than the memory was.
    cache.threshold_cycles = hits.high_cycles + least_level_gap_cycles;
    return report_full(cache, path, hits);
  }
  report_latency(run, name + ".hit_latency_cycles", {.samples = {hits.cycles}});
  report_latency(run, name + ".miss_latency_cycles", {.samples = {misses.cycles}});
  if (level > 0) {
    std::string reason;
    cache.inner = describe_inner(run, path, survey, level, reason);
    if (!cache.inner) return run.leave_open(name + ".", reason);
    // Lines that an inner cache kept from earlier chases arrive here only after it has lost them:
    // in each pass it loses half of the lines of an overfull set of two ways under random
    // replacement.
    constexpr std::uint64_t passes_behind_others = 8;
    cache.settling_passes = passes_behind_others;
  }
  try {
    report_structure(cache, level == 0 ? std::string() : path.caches[level - 1]);
  } catch (const ProbeTooLargeError& error) {
    run.leave_open(name + ".", error.what());
  }
}

namespace {

constexpr std::uint64_t smallest_footprint_bytes = 1_KiB;
constexpr std::uint64_t shortest_line_bytes = 64;  // before the L2, except for textures

/// Steady chases over footprints in half octaves, with two strides: 256 bytes, the longest line,
/// and the shortest line of such caches (32 bytes for constants and code).
std::vector<FootprintChase> chase_footprints(JobRun& run, const CachePath& path,
                                             const ChaseSetup& setup) {
  constexpr std::uint64_t enough = 1024;
  std::vector<FootprintChase> chases;
  const std::uint64_t shortest = path.space_bytes > 0 ? smallest_line_bytes : shortest_line_bytes;
  const std::uint64_t dense_step = std::max(shortest, access_bytes(path.path));
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
        chases.push_back({measure_chase(run, setup, label, plan).cycles});
      }
    }
  }
  return chases;
}

/// Latencies of loads that no cache holds.
/// @pre nothing of a space of constants or code was accessed before. No flush empties caches of
/// code: each chase first accesses the rest of the space, and times its part once
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

/// Latency of L2 hits; for several partitions, of the near one.
std::optional<double> fastest_l2_cycles(const JobRun& run) {
  const Finding* hits = run.finding("cache.l2.hit_latency_cycles");
  if (hits == nullptr) return std::nullopt;
  if (!hits->modes.empty()) return std::ranges::min(hits->modes);
  return run.number("cache.l2.hit_latency_cycles");
}

/// A path with a shorter latency than plain loads from the L2 may have a cache of its own there.
constexpr double surely_l2 = 0.97;

/// Index of the first class whose latency is about that of the L2; `served` if there is none among
/// the first `served` classes.
std::size_t find_l2(const JobRun& run, const std::vector<LatencyClass>& classes,
                    std::size_t served) {
  const auto l2_cycles = fastest_l2_cycles(run);
  if (!l2_cycles) return served;
  std::size_t first = 0;
  while (first < served && median(classes[first].cycles) < least_share_of_l2 * *l2_cycles) ++first;
  return first;
}

/// Whether one of `slower` than the class that looks like the L2 is not the way to another of its
/// partitions. Then that class may be a cache that is as slow as plain loads from the L2.
bool may_be_before_l2(const JobRun& run, const LatencyClass& like_l2,
                      std::span<const LatencyClass> slower) {
  constexpr double most_off = 0.2;  // of the way to the other partition
  const Finding* hits = run.finding("cache.l2.hit_latency_cycles");
  const double near_cycles = median(like_l2.cycles);
  return std::ranges::any_of(slower, [&](const LatencyClass& other) {
    const double further_cycles = median(other.cycles) - near_cycles;
    return std::ranges::none_of(hits->modes, [&](double mode) {
      const double way_cycles = mode - std::ranges::min(hits->modes);
      return way_cycles > 0 && std::abs(further_cycles - way_cycles) < most_off * way_cycles;
    });
  });
}

/// Splits the classes into caches of the path and what serves their misses.
void sort_classes(JobRun& run, const CachePath& path, const std::vector<FootprintChase>& chases,
                  const std::vector<double>& cold, PathSurvey& survey) {
  std::vector<LatencyClass> classes = find_latency_classes(chases, least_level_gap_cycles);
  std::size_t served = classes.size();  // by caches; the other classes by the memory, near or far
  const double fastest_cold = quantile(cold, 0.1);
  // A load faster than the L2 is not from memory: then a cache of code holds the whole space.
  const auto l2_cycles = run.number("cache.l2.hit_latency_cycles");
  const bool is_cold = !l2_cycles || fastest_cold > least_share_of_l2 * *l2_cycles;
  while (is_cold && served > 0 &&
         fastest_cold < classes[served - 1].high_cycles + least_level_gap_cycles) {
    --served;
  }
  const std::size_t l2 = find_l2(run, classes, served);
  survey.caches.assign(classes.begin(), classes.begin() + static_cast<std::ptrdiff_t>(l2));
  if (l2 < served) {
    const double cycles = median(classes[l2].cycles);
    survey.may_go_on =
        cycles < surely_l2 * *fastest_l2_cycles(run) ||
        may_be_before_l2(run, classes[l2], std::span(classes).subspan(l2 + 1, served - l2 - 1));
    survey.no_more =
        fmt::format("misses are served {} after {:.0f} cycles, plain loads by the L2 after {:.0f}",
                    survey.may_go_on ? "by the L2 or by a cache before it," : "by the L2:", cycles,
                    *run.number("cache.l2.hit_latency_cycles"));
    survey.behind = std::move(classes[l2]);
  } else if (served < classes.size()) {
    survey.no_more = fmt::format("misses are served by memory after {:.0f} cycles",
                                 median(classes[served].cycles));
    survey.behind = std::move(classes[served]);
  } else {
    survey.last_is_full = true;
    survey.behind = class_of(cold);
    survey.no_more =
        fmt::format("the cache in front of it holds all of {}, so the next level cannot be seen",
                    format_bytes(path.survey_bytes));
  }
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

}  // namespace sonde
