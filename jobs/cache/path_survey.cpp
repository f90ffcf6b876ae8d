// Latencies of chases through growing footprints become classes, and classes caches of the path and
// what lies behind them; jobs/cache/path_levels looks at each.
#include "jobs/cache/path_survey.hpp"

#include "analysis/statistics.hpp"
#include "analysis/structure/latency/latency_gaps.hpp"
#include "base/gpu_facts.hpp"
#include "base/random.hpp"
#include "base/units.hpp"
#include "jobs/chase/known_latencies.hpp"
#include "jobs/run/attempt.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace sonde {
namespace {

constexpr std::uint64_t smallest_footprint_bytes = 1_KiB;
constexpr std::uint64_t shortest_line_bytes = 64;  // of caches in front of the L2, but textures'

/// Steady chases through footprints in half octaves; once in every line, of the shortest that such
/// caches have (those of textures have shorter ones), and once in 256 bytes, the longest.
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

/// How soon the L2 answers, of several partitions the nearest.
std::optional<double> soonest_l2_cycles(const JobRun& run) {
  const Finding* hits = run.finding("cache.l2.hit_latency_cycles");
  if (hits == nullptr) return std::nullopt;
  if (!hits->modes.empty()) return std::ranges::min(hits->modes);
  return run.number("cache.l2.hit_latency_cycles");
}

/// Number of the innermost class that comes as late as the L2; `served` if none of the first
/// `served` does.
std::size_t find_l2(const JobRun& run, const std::vector<LatencyClass>& classes,
                    std::size_t served) {
  const auto l2_cycles = soonest_l2_cycles(run);
  if (!l2_cycles) return served;
  std::size_t first = 0;
  while (first < served && median(classes[first].cycles) < least_share_of_l2 * *l2_cycles) ++first;
  return first;
}

/// Who serves what the last class does not, of the largest footprints: some policies keep most of
/// what is asked for again and again, so that no chase has half of its loads from there.
std::optional<LatencyClass> find_behind_last(const std::vector<FootprintChase>& chases,
                                             const LatencyClass& last) {
  constexpr double least_share = 0.05;  // outliers are a few in a thousand
  // Of those that come later, which the L2, a cache behind it and the memory may share.
  constexpr double least_share_of_late = 0.25;
  FootprintChase late{.span_bytes = chases.back().span_bytes, .cycles = {}};
  double loads = 0;
  for (const FootprintChase& chase : chases) {
    if (chase.span_bytes < late.span_bytes) continue;
    loads += static_cast<double>(chase.cycles.size());
    for (double cycles : chase.cycles)
      if (cycles > last.high_cycles + least_level_gap_cycles) late.cycles.push_back(cycles);
  }
  if (static_cast<double>(late.cycles.size()) < least_share * loads) return std::nullopt;
  auto classes = find_latency_classes({late}, least_level_gap_cycles, least_share_of_late);
  if (classes.empty()) return std::nullopt;
  return std::move(classes.front());
}

/// Sorts the classes into caches of the path and what lies behind them.
void sort_classes(JobRun& run, const CachePath& path, const std::vector<FootprintChase>& chases,
                  const std::vector<double>& cold, PathSurvey& survey) {
  const bool translated = path.space_bytes == 0;
  std::vector<LatencyClass> classes = translated
                                          ? find_latency_classes(chases, least_level_gap_cycles)
                                          : find_passing_classes(chases, least_level_gap_cycles);
  if (!translated && !classes.empty()) {
    if (auto behind = find_behind_last(chases, classes.back()))
      classes.push_back(*std::move(behind));
  }
  std::size_t served = classes.size();  // by caches; the others by the memory, near or far
  const double soonest_cold = quantile(cold, 0.1);
  // What answers sooner than the L2 is no memory: a cache of code that holds all of the space.
  const auto l2_cycles = run.number("cache.l2.hit_latency_cycles");
  const bool is_cold = !l2_cycles || soonest_cold > least_share_of_l2 * *l2_cycles;
  while (is_cold && served > 0 &&
         soonest_cold < classes[served - 1].high_cycles + least_level_gap_cycles) {
    --served;
  }
  const std::size_t l2 = find_l2(run, classes, served);
  survey.caches.assign(classes.begin(), classes.begin() + static_cast<std::ptrdiff_t>(l2));
  if (l2 < served) {
    survey.no_more = fmt::format(
        "misses are served by the L2: after {:.0f} cycles, plain loads by it after {:.0f}",
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
