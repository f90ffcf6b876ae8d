// The survey of a path, and one level after the other.
#include "jobs/cache/path_levels.hpp"

#include "analysis/statistics.hpp"
#include "base/error.hpp"
#include "base/random.hpp"
#include "base/units.hpp"
#include "jobs/cache/report.hpp"
#include "jobs/cache/writes_and_prefetch.hpp"
#include "jobs/sets/cache_probe.hpp"
#include "jobs/sets/search.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace sonde {
namespace {

// Slices of one cache lie some cycles apart, levels more (published: 30 and more).
constexpr double class_gap_cycles = 12;
constexpr std::uint64_t smallest_footprint_bytes = 1_KiB;
// What lies in front of the L2 answers sooner than the L2 does; the paths to it differ by some
// cycles (texture filters, calls of code), on GPUs known by up to a third.
constexpr double least_share_of_l2 = 0.75;
constexpr std::uint64_t line_of_most_caches_bytes = 128;

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
        ChasePlan plan;
        plan.offsets = shuffled_order(span_bytes, step_bytes, derive_seed(run.seed(), "survey"));
        plan.warmup_passes = 2;
        plan.recorded = std::min({plan.offsets.size(), setup.recordable_accesses, enough});
        plan.passes = std::max<std::uint64_t>(1, enough / 4 / plan.recorded);
        const std::string label =
            fmt::format("{} span {} step {}", path.caches.front(), span_bytes, step_bytes);
        chases.push_back({span_bytes, measure_chase(run, setup, label, plan).cycles});
      }
    }
  }
  return chases;
}

/// Latencies of what no cache holds.
std::vector<double> measure_cold(JobRun& run, const CachePath& path, const ChaseSetup& setup) {
  const std::string label = path.caches.front() + " cold";
  if (path.space_bytes == 0) return measure_memory_latencies(run, setup, label);
  constexpr std::uint64_t longest_line_bytes = 1_KiB;
  ChasePlan plan;
  plan.offsets =
      descending_order(std::min(path.space_bytes, constant_bank_bytes), longest_line_bytes);
  plan.warmup_passes = 0;
  plan.passes = 3;
  plan.preparation = Preparation::flushed;
  return position_medians(measure_chase(run, setup, label, plan));
}

/// Whether lines in half of what the L2 keeps for one SM are served by this class.
bool serves_half_the_l2(JobRun& run, const CachePath& path, const ChaseSetup& setup,
                        const LatencyClass& found) {
  auto l2_bytes = run.number("cache.l2.segment_bytes");
  if (!l2_bytes) l2_bytes = run.number("cache.l2.size_bytes");
  if (!l2_bytes) return true;
  constexpr std::uint64_t enough = 2048;
  ChasePlan plan;
  const std::uint64_t span_bytes = static_cast<std::uint64_t>(*l2_bytes) / 2;
  plan.offsets = shuffled_order(span_bytes, line_of_most_caches_bytes, run.seed());
  plan.warmup_passes = 2;
  plan.recorded = std::min({plan.offsets.size(), setup.recordable_accesses, enough});
  const std::string label = path.caches.front() + " half the L2";
  const double cycles = median(measure_chase(run, setup, label, plan).cycles);
  return std::abs(cycles - median(found.cycles)) < class_gap_cycles;
}

bool is_l2(JobRun& run, const CachePath& path, const ChaseSetup& setup, const LatencyClass& found) {
  const auto l2_cycles = run.number("cache.l2.hit_latency_cycles");
  if (!l2_cycles || median(found.cycles) < least_share_of_l2 * *l2_cycles) return false;
  return path.space_bytes > 0 || serves_half_the_l2(run, path, setup, found);
}

LatencyClass class_of(const std::vector<double>& cycles) {
  return {0, quantile(cycles, 0.02), quantile(cycles, 0.98), cycles};
}

/// Sorts the classes into caches of the path and what lies behind them.
void judge(JobRun& run, const CachePath& path, std::vector<LatencyClass> classes,
           const std::vector<double>& cold, PathSurvey& survey) {
  const double soonest_cold = quantile(cold, 0.1);
  for (std::size_t i = 0; i < classes.size(); ++i) {
    LatencyClass& found = classes[i];
    const double cycles = median(found.cycles);
    if (is_l2(run, path, survey.setup, found)) {
      survey.no_more = fmt::format(
          "misses are served by the L2: after {:.0f} cycles, plain loads by it after {:.0f}",
          cycles, *run.number("cache.l2.hit_latency_cycles"));
      survey.behind = std::move(found);
      return;
    }
    if (i + 1 == classes.size() && soonest_cold < found.high_cycles + class_gap_cycles) {
      survey.no_more = fmt::format("misses are served by the memory, after {:.0f} cycles", cycles);
      survey.behind = std::move(found);
      return;
    }
    survey.caches.push_back(std::move(found));
  }
  survey.last_is_full = true;
  survey.behind = class_of(cold);
  survey.no_more = fmt::format("the cache before it holds all of {}, and hides what lies behind",
                               format_bytes(static_cast<double>(path.survey_bytes)));
}

/// What lies between a cache and the loads.
std::optional<InnerCaches> describe_inner(JobRun& run, const CachePath& path,
                                          const PathSurvey& survey, std::size_t level,
                                          std::string& reason) {
  InnerCaches inner;
  inner.threshold_cycles = threshold_between(survey.caches[level - 1], survey.caches[level]);
  for (std::size_t i = 0; i < level; ++i) {
    const auto size_bytes = run.number(path.caches[i] + ".size_bytes");
    const auto line_bytes = run.number(path.caches[i] + ".line_bytes");
    if (!size_bytes || !line_bytes) {
      reason = fmt::format("{} lies before it, and its size or line is not known", path.caches[i]);
      return std::nullopt;
    }
    inner.size_bytes = std::max(inner.size_bytes, static_cast<std::uint64_t>(*size_bytes));
    const auto bytes = static_cast<std::uint64_t>(*line_bytes);
    inner.line_bytes = inner.line_bytes == 0 ? bytes : std::min(inner.line_bytes, bytes);
  }
  return inner;
}

void report_hit(JobRun& run, const std::string& cache, const LatencyClass& hits) {
  run.report(found(cache + ".hit_latency_cycles", median(hits.cycles), 1, hits.cycles.size(),
                   median_absolute_deviation(hits.cycles)));
}

/// Stores and streams.
void report_behaviour(JobRun& run, const CacheUnderTest& cache, const CacheGeometry& shape) {
  if (cache.space_bytes > 0) {
    run.report(not_present(cache.name + ".write_policy", "nothing stores to constants or code"));
    if (2 * shape.size_bytes() > cache.space_bytes) {
      run.report(not_resolvable(cache.name + ".prefetch_bytes",
                                "it holds more than half of all that can be asked for"));
      return;
    }
  } else {
    report_write_policy(run, cache, shape.line_bytes);
  }
  report_prefetch(run, cache, shape.fetch.bytes);
}

/// A cache that no footprint overflows: its hits, and what one miss brings.
Unanswered report_full(JobRun& run, const CacheUnderTest& cache, const CachePath& path,
                       const LatencyClass& hits) {
  const std::string held = format_bytes(static_cast<double>(path.survey_bytes));
  const std::string reason =
      path.path == LoadPath::constant
          ? fmt::format("holds the whole constant bank: {} or more", held)
          : fmt::format("holds every footprint that can be asked for: {} or more", held);
  if (const auto fetch = measure_fetch(run, cache)) {
    run.report(found(cache.name + ".fetch_bytes", static_cast<double>(fetch->bytes),
                     fetch->agreement, fetch->observations));
  }
  report_hit(run, cache.name, hits);
  return {Status::not_resolvable, reason};
}

}  // namespace

PathSurvey survey_path(JobRun& run, const CachePath& path) {
  PathSurvey survey;
  survey.setup = set_up_chase(run, path.path, path.record_space);
  std::vector<FootprintChase> chases;
  try {
    chases = chase_footprints(run, path, survey.setup);
  } catch (const DeviceLostError&) {
    throw;
  } catch (const DeviceError& error) {
    survey.no_more = error.what();
    return survey;
  }
  judge(run, path, find_latency_classes(chases, class_gap_cycles),
        measure_cold(run, path, survey.setup), survey);
  return survey;
}

Unanswered characterize_level(JobRun& run, const CachePath& path, const PathSurvey& survey,
                              std::size_t level) {
  const std::string& name = path.caches.at(level);
  if (level >= survey.caches.size()) {
    return {survey.last_is_full ? Status::not_resolvable : Status::not_present, survey.no_more};
  }
  const bool last = level + 1 == survey.caches.size();
  const LatencyClass& hits = survey.caches[level];
  const LatencyClass& misses = last ? *survey.behind : survey.caches[level + 1];
  CacheUnderTest cache{.name = name, .setup = survey.setup};
  cache.threshold_cycles = threshold_between(hits, misses);
  cache.limit_bytes = path.space_bytes > 0 ? path.space_bytes : path.survey_bytes;
  cache.seed = derive_seed(run.seed(), name);
  cache.space_bytes = path.space_bytes;
  if (last && survey.last_is_full) return report_full(run, cache, path, hits);
  report_latencies(run, name, hits.cycles, misses.cycles);
  std::string reason;
  if (level > 0) {
    cache.inner = describe_inner(run, path, survey, level, reason);
    if (!cache.inner) return {Status::not_resolvable, reason};
  }
  auto shape = measure_geometry(run, cache, reason);
  if (!shape) return {Status::not_resolvable, reason};
  measure_size(run, cache, *shape);
  CacheProbe probe(run, cache, shape->size_bytes(), shape->line_bytes);
  const SetFindings sets = characterize_sets(probe);
  shape->sets_confirmed = sets.confirmed();
  report_geometry(run, name, *shape, {}, level > 0 ? path.caches[level - 1] : std::string());
  report_behaviour(run, cache, *shape);
  return {Status::not_resolvable, sets.reason};
}

void report_unanswered(JobRun& run, const std::string& cache, const Unanswered& unanswered) {
  run.report_rest(cache + ".", unanswered.status, unanswered.reason);
}

}  // namespace sonde
