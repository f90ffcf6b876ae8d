// Latencies of chases through growing footprints become classes, and classes caches of the path and
// what lies behind them; jobs/cache/path_levels looks at each.
#include "jobs/cache/path_survey.hpp"

#include "analysis/statistics.hpp"
#include "analysis/structure/latency/latency_gaps.hpp"
#include "base/gpu_facts.hpp"
#include "base/random.hpp"
#include "base/units.hpp"
#include "jobs/cache/data_pressure.hpp"
#include "jobs/cache/l2_partitions.hpp"
#include "jobs/cache/loaded_elsewhere.hpp"
#include "jobs/chase/known_latencies.hpp"
#include "jobs/run/attempt.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

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

/// To a twentieth. Paths to the L2 may differ by more, but so may a cache that is as slow.
bool comes_after(const LatencyClass& found, double cycles) {
  constexpr double tolerance = 0.05;
  return std::abs(median(found.cycles) - cycles) <= tolerance * cycles;
}

bool comes_as_late_as_l2(const JobRun& run, const LatencyClass& found) {
  return comes_after(found, run.number("cache.l2.hit_latency_cycles").value_or(0));
}

/// Whether it is as late as the nearest of several partitions, which may serve any part of a
/// footprint.
bool comes_as_late_as_near_partition(const JobRun& run, const LatencyClass& found) {
  const Finding* hits = run.finding("cache.l2.hit_latency_cycles");
  return hits != nullptr && !hits->modes.empty() &&
         comes_after(found, std::ranges::min(hits->modes));
}

bool is_l2(JobRun& run, const CachePath& path, const ChaseSetup& setup, const LatencyClass& found) {
  const auto l2_cycles = soonest_l2_cycles(run);
  if (!l2_cycles || median(found.cycles) < least_share_of_l2 * *l2_cycles) return false;
  return path.space_bytes > 0 || comes_as_late_as_near_partition(run, found) ||
         serves_half_the_l2(run, path, setup, found);
}

/// Whether the memory's side answers so late, if the job cache.l3 found a cache there.
bool is_memory_side(const JobRun& run, const LatencyClass& found) {
  const auto l2_cycles = run.number("cache.l2.hit_latency_cycles");
  const auto side_cycles = run.number("cache.l3.hit_latency_cycles");
  return l2_cycles && side_cycles && 2 * median(found.cycles) > *l2_cycles + *side_cycles;
}

/// Of the first `l2` classes of a space of its own, without those that may be the closer partition
/// of an L2 that is divided.
std::size_t leave_partitions(JobRun& run, const CachePath& path, const ChaseSetup& setup,
                             const std::vector<LatencyClass>& classes, std::size_t l2) {
  if (!l2_is_divided(run)) return l2;
  while (l2 > 0 && is_l2(run, path, setup, classes[l2 - 1])) --l2;
  return l2;
}

/// Of a space of its own, whose caches may be as slow as the L2: the innermost of the last classes
/// that lose their lines to data. Where that cannot be asked, the last.
/// @param survey says that nothing is known behind its caches, if the L2 keeps data, too
std::size_t find_l2_of_space(JobRun& run, const CachePath& path,
                             const std::vector<LatencyClass>& classes, std::size_t served,
                             PathSurvey& survey) {
  const ChaseSetup& setup = survey.chase;
  while (served > 1 && is_memory_side(run, classes[served - 1])) --served;
  std::size_t l2 = served;
  while (l2 > 0 && is_l2(run, path, setup, classes[l2 - 1])) {
    // The last class of all serves the largest footprint, too.
    const std::uint64_t span_bytes =
        l2 == classes.size() ? path.survey_bytes : classes[l2 - 1].first_span_bytes;
    const UnderData under =
        chase_under_data(run, setup, path.caches.front(), classes[l2 - 1], span_bytes);
    if (under == UnderData::survives) return l2;
    if (under != UnderData::leaves) {
      const bool looks_alike = comes_as_late_as_l2(run, classes[l2 - 1]);
      if (under == UnderData::not_told || !looks_alike) survey.may_be_cache = l2 == served;
      // The last of all is the L2, for want of another; classes before it may be partitions of it.
      const std::size_t last = l2 == served ? l2 - 1 : l2;
      const std::size_t first = leave_partitions(run, path, setup, classes, last);
      survey.may_be_cache = survey.may_be_cache || first < last;
      return first;
    }
    --l2;
  }
  return l2;
}

/// Whether a class that comes sooner than plain loads from the L2 lies before it all the same: what
/// another SM has just loaded comes clearly later. Not told where both share that cache.
bool is_before_l2(JobRun& run, const CachePath& path, const ChaseSetup& setup,
                  const LatencyClass& found) {
  constexpr double soonest_share = 0.1;  // of several partitions the nearest
  if (comes_as_late_as_l2(run, found) || comes_as_late_as_near_partition(run, found)) return false;
  const CacheUnderTest cache{.run = run, .name = path.caches.front(), .chase = setup};
  const std::vector<double> of_l2 = measure_loaded_elsewhere(cache, path.survey_bytes);
  return !of_l2.empty() &&
         quantile(of_l2, soonest_share) > found.high_cycles + least_level_gap_cycles;
}

/// Number of the class that is the L2's, or of the first of several (partitions); `served` if none
/// of the first `served` is. Of global memory it is the innermost that is as slow as the L2: what
/// lies behind may be slow translations, or a cache on the memory's side.
std::size_t find_l2(JobRun& run, const CachePath& path, const std::vector<LatencyClass>& classes,
                    std::size_t served, PathSurvey& survey) {
  if (path.space_bytes > 0) return find_l2_of_space(run, path, classes, served, survey);
  std::size_t first = 0;
  while (first < served && (!is_l2(run, path, survey.chase, classes[first]) ||
                            is_before_l2(run, path, survey.chase, classes[first]))) {
    ++first;
  }
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
  const std::size_t l2 = find_l2(run, path, classes, served, survey);
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
