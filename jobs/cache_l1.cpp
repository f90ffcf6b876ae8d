// Jobs `cache.l1` and `cache.readonly`: the first cache on the way of plain loads (ca), and that on
// the way of read-only loads (nc), which may be the same.
// Method: docs/methods/cache.md.
#include "analysis/statistics.hpp"
#include "analysis/structure/latency/hit_classes.hpp"
#include "analysis/structure/latency/latency_gaps.hpp"
#include "base/gpu_facts.hpp"
#include "base/random.hpp"
#include "base/units.hpp"
#include "jobs/cache/cache_probe.hpp"
#include "jobs/cache/carveouts.hpp"
#include "jobs/cache/doubtful_line.hpp"
#include "jobs/cache/every_sm.hpp"
#include "jobs/cache/geometry.hpp"
#include "jobs/cache/report.hpp"
#include "jobs/cache/writes_and_prefetch.hpp"
#include "jobs/chase/known_latencies.hpp"
#include "jobs/run/attempt.hpp"
#include "jobs/run/clock_window.hpp"
#include "jobs/sets/search.hpp"

#include <fmt/format.h>

namespace sonde {
namespace {

/// The cache that loads of `path` meet before the L2, if there is one: its hits are faster than
/// loads that pass it by. nullopt if there is none: then all metrics of `name` are reported.
std::optional<CacheUnderTest> find_first_cache(JobRun& run, LoadPath path,
                                               const std::string& name) {
  const ChaseSetup passing = set_up_chase(run, LoadPath::past_l1, RecordSpace::with_largest_l1);
  const std::vector<double> l2_latencies =
      measure_resident_latencies(run, passing, name + " passed by");
  CacheUnderTest cache{
      .run = run, .name = name, .chase = set_up_chase(run, path, RecordSpace::with_largest_l1)};
  std::vector<double> hits;
  const auto measure = [&] { hits = measure_resident_latencies(run, cache.chase, name + " hits"); };
  if (path == LoadPath::all_levels) {
    measure();  // every device has plain loads
  } else if (const auto refusal = refusal_of(measure)) {
    run.report_rest("", Status::not_present, *refusal);
    return std::nullopt;
  }
  cache.limit_bytes = largest_l1_bytes;
  cache.seed = derive_seed(run.seed(), name);
  const auto classes = separate_hits(hits, l2_latencies, least_first_cache_gap_cycles);
  if (!classes) {
    run.report_rest("", Status::not_present,
                    fmt::format("{} loads take {:.0f} cycles at best, loads that pass the L1 by "
                                "{:.0f}: no cache serves them",
                                to_text(path), median(hits), median(l2_latencies)));
    return std::nullopt;
  }
  cache.threshold_cycles = classes->threshold_cycles;
  return cache;
}

std::string explain_carveout(const ChaseSetup& chase) {
  if (!chase.shared_carveout_bytes) return {};
  return fmt::format("seen with {} of shared memory, the least that holds the record",
                     format_bytes(*chase.shared_carveout_bytes));
}

Replicates measure_hits(const CacheUnderTest& cache) {
  const std::string label = cache.name + " hits";
  return measure_replicates(cache.run, label, [&](const Draw& draw) {
    return measure_resident_latencies(cache.run, at_draw(cache.chase, draw), label);
  });
}

/// Loads that just miss this cache and find their line behind it: a span of four times its size.
Replicates measure_misses(const CacheUnderTest& cache, const CacheGeometry& geometry) {
  constexpr std::uint64_t recorded = 2048;
  const std::string label = cache.name + " misses";
  return measure_replicates(cache.run, label, [&](const Draw& draw) {
    ChasePlan plan = overflowing_plan(cache.chase, 4 * geometry.size_bytes(), geometry.line_bytes,
                                      draw.seed, recorded);
    plan.offsets = page_by_page(std::move(plan.offsets));  // few wait for a translation
    std::vector<double> misses =
        measure_chase(cache.run, at_draw(cache.chase, draw), label, plan).cycles;
    std::erase_if(misses, [&](double cycles) { return cycles <= cache.threshold_cycles; });
    return misses;
  });
}

void report_first_latencies(const CacheUnderTest& cache, const CacheGeometry& geometry) {
  const Replicates hits = measure_hits(cache);
  const Replicates misses = measure_misses(cache, geometry);
  report_hit_latency(cache.run, cache.name, hits);
  if (!misses.samples.empty()) return report_miss_latency(cache.run, cache.name, misses);
  cache.run.report(
      not_resolvable(cache.name + ".miss_latency_cycles", "four times its size still fits"));
}

/// Sets first: where plain footprints fill them unevenly they tell the size. The quick suite leaves
/// them out, and all that builds on them.
void characterize(CacheUnderTest cache) {
  JobRun& run = cache.run;
  std::string reason;
  auto geometry = measure_geometry(cache, reason);
  if (!geometry) {
    report_hit_latency(run, cache.name, measure_hits(cache));
    return run.leave_open("", reason);
  }
  measure_size(cache, *geometry);
  std::optional<SetFindings> sets;
  if (run.level() != SuiteLevel::quick) {
    leave_odd_sms(cache, *geometry);
    settle_doubtful_line(cache, *geometry);
    CacheProbe probe(cache, geometry->size_bytes(), geometry->line_bytes,
                     geometry->line_confidence());
    sets = characterize_sets_of_lines(cache, probe, *geometry);
    report_every_sm(cache, probe, *sets);
    geometry->filled_bytes = sets->filled_bytes();
  }
  report_geometry(cache, *geometry, {.size = explain_carveout(cache.chase)});
  report_first_latencies(cache, *geometry);
  report_write_policy(cache, geometry->line_bytes);
  report_prefetch(cache, geometry->fetch.bytes);
  if (!sets) return run.skip_rest("");
  if (cache.name == "cache.l1") report_carveouts(cache, *geometry, *sets);
  run.leave_open("", sets->reason);
}

void run_first_cache(JobRun& run, LoadPath path, const std::string& name) {
  if (const auto cache = find_first_cache(run, path, name)) characterize(*cache);
}

}  // namespace

void run_cache_l1(JobRun& run) { run_first_cache(run, LoadPath::all_levels, "cache.l1"); }

void run_cache_readonly(JobRun& run) {
  run_first_cache(run, LoadPath::read_only, "cache.readonly");
}

}  // namespace sonde
