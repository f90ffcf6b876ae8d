// Jobs `cache.l1` and `cache.readonly`: the first cache on the way of plain loads (ca), and that on
// the way of read-only loads (nc), which may be the same.
// Method: docs/methods/cache.md.
#include "analysis/statistics.hpp"
#include "base/error.hpp"
#include "base/random.hpp"
#include "base/units.hpp"
#include "jobs/cache/carveouts.hpp"
#include "jobs/cache/geometry.hpp"
#include "jobs/cache/report.hpp"
#include "jobs/cache/writes_and_prefetch.hpp"
#include "jobs/jobs.hpp"
#include "jobs/sets/cache_probe.hpp"
#include "jobs/sets/search.hpp"

#include <fmt/format.h>

namespace sonde {
namespace {

// Hits of a first-level cache are at least this much faster than the next level on every GPU
// published; jitter is about one cycle.
constexpr double least_gap_cycles = 8;
// Twice the largest L1 known (H100: 256 KB).
constexpr std::uint64_t largest_l1_bytes = 512_KiB;

/// The cache that loads of `setup.path` meet before the L2, if there is one: its hits are faster
/// than loads that pass it by.
std::optional<CacheUnderTest> find_first_cache(JobRun& run, const ChaseSetup& setup,
                                               const std::string& name,
                                               const std::vector<double>& hits,
                                               const std::vector<double>& l2_latencies) {
  const auto classes = separate_hits(hits, l2_latencies, least_gap_cycles);
  if (!classes) return std::nullopt;
  CacheUnderTest cache{.name = name, .setup = setup};
  cache.threshold_cycles = classes->threshold_cycles;
  cache.limit_bytes = largest_l1_bytes;
  cache.seed = derive_seed(run.seed(), name);
  return cache;
}

std::string explain_carveout(const ChaseSetup& setup) {
  if (!setup.shared_carveout_bytes) return {};
  return fmt::format("seen beside {} of shared memory, the least that holds the record",
                     format_bytes(static_cast<double>(*setup.shared_carveout_bytes)));
}

/// Loads that just miss this cache and find their line behind it: a span of four times its size.
std::vector<double> measure_misses(JobRun& run, const CacheUnderTest& cache,
                                   std::uint64_t size_bytes, std::uint64_t line_bytes) {
  ChasePlan plan;
  plan.offsets = shuffled_order(4 * size_bytes, line_bytes, cache.seed);
  plan.warmup_passes = 2;
  plan.recorded = std::min<std::uint64_t>(plan.offsets.size(), cache.setup.recordable_accesses);
  std::vector<double> misses;
  for (double cycles : measure_chase(run, cache.setup, cache.name + " misses", plan).cycles) {
    if (cycles > cache.threshold_cycles) misses.push_back(cycles);
  }
  return misses;
}

/// Sets first: where plain footprints fill them unevenly they tell the size.
std::optional<SetFindings> report_cache(JobRun& run, const CacheUnderTest& cache,
                                        CacheGeometry& shape, const std::vector<double>& hits) {
  std::optional<SetFindings> sets;
  if (run.level() != SuiteLevel::quick) {
    CacheProbe probe(run, cache, shape.size_bytes(), shape.line_bytes);
    sets = characterize_sets(probe);
    shape.filled_bytes = sets->filled_bytes;
    shape.sets_confirmed = sets->confirmed();
  }
  report_geometry(run, cache.name, shape, explain_carveout(cache.setup), {});
  const std::vector<double> misses =
      measure_misses(run, cache, shape.size_bytes(), shape.line_bytes);
  if (misses.empty()) {
    run.report(found(cache.name + ".hit_latency_cycles", median(hits), 1, hits.size(),
                     median_absolute_deviation(hits)));
    run.report(
        not_resolvable(cache.name + ".miss_latency_cycles", "four times its size still fits"));
  } else {
    report_latencies(run, cache.name, hits, misses);
  }
  report_write_policy(run, cache, shape.line_bytes);
  report_prefetch(run, cache, shape.fetch.bytes);
  return sets;
}

void report_rest(JobRun& run, std::string_view prefix, const std::optional<SetFindings>& sets) {
  if (sets) return run.report_rest(prefix, Status::not_resolvable, sets->reason);
  run.report_rest(prefix, Status::skipped, "the quick suite does not look for sets");
}

void characterize_l1(JobRun& run, const std::vector<double>& l2_latencies) {
  const ChaseSetup setup = set_up_chase(run, LoadPath::ca, RecordSpace::with_largest_l1);
  const std::vector<double> hits = measure_resident_latencies(run, setup, "cache.l1 hits");
  const auto cache = find_first_cache(run, setup, "cache.l1", hits, l2_latencies);
  std::string reason = fmt::format(
      "ca loads take {:.0f} cycles at best, loads that pass the L1 by {:.0f}: no cache serves them",
      median(hits), median(l2_latencies));
  if (!cache) {
    report_absent(run, "cache.l1", reason);
    return;
  }
  auto shape = measure_geometry(run, *cache, reason);
  if (!shape) {
    report_no_geometry(run, "cache.l1", reason);
    return;
  }
  measure_size(run, *cache, *shape);
  const auto sets = report_cache(run, *cache, *shape, hits);
  if (sets) report_carveouts(run, *cache, *shape, *sets);
  report_rest(run, "cache.l1.", sets);
}

void characterize_readonly(JobRun& run, const std::vector<double>& l2_latencies) {
  const ChaseSetup setup = set_up_chase(run, LoadPath::nc, RecordSpace::with_largest_l1);
  std::vector<double> hits;
  try {
    hits = measure_resident_latencies(run, setup, "cache.readonly hits");
  } catch (const DeviceLostError&) {
    throw;
  } catch (const DeviceError& error) {
    report_absent(run, "cache.readonly", error.what());
    return;
  }
  const auto cache = find_first_cache(run, setup, "cache.readonly", hits, l2_latencies);
  if (!cache) {
    report_absent(run, "cache.readonly", "nc loads are as slow as loads that pass the L1 by");
    return;
  }
  std::string reason;
  if (auto shape = measure_geometry(run, *cache, reason)) {
    measure_size(run, *cache, *shape);
    report_rest(run, "cache.readonly.", report_cache(run, *cache, *shape, hits));
  } else {
    report_no_geometry(run, "cache.readonly", reason);
  }
}

/// Latencies of loads that pass the first caches by.
std::vector<double> measure_passing(JobRun& run, const std::string& label) {
  const ChaseSetup passing = set_up_chase(run, LoadPath::cg, RecordSpace::with_largest_l1);
  return measure_resident_latencies(run, passing, label);
}

}  // namespace

void run_cache_l1(JobRun& run) { characterize_l1(run, measure_passing(run, "cache.l1 passed by")); }

void run_cache_readonly(JobRun& run) {
  characterize_readonly(run, measure_passing(run, "cache.readonly passed by"));
}

}  // namespace sonde
