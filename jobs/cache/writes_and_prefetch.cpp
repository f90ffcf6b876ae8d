// Stores and streams.
#include "jobs/cache/writes_and_prefetch.hpp"

#include "analysis/statistics.hpp"
#include "base/error.hpp"
#include "base/units.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace sonde {
namespace {

constexpr std::uint64_t least_stored_lines = 64;
// Stores to so few lines, each in a DRAM page of its own, leave nothing to chance.
constexpr std::uint64_t line_distance_bytes = 4096 + 512;

/// More than inner caches hold, so that they do not answer in place of this one.
std::uint64_t lines_to_store(const CacheUnderTest& cache) {
  if (!cache.inner) return least_stored_lines;
  return std::max(least_stored_lines, 2 * cache.inner->size_bytes / cache.inner->line_bytes);
}

/// Share of lines that hit when each is loaded once after a store to it.
double hits_after_stores(JobRun& run, const CacheUnderTest& cache, std::uint64_t warmup_passes,
                         std::uint64_t line_bytes) {
  const std::uint64_t stored_lines = lines_to_store(cache);
  const std::uint64_t distance = warmup_passes > 0 ? line_bytes : line_distance_bytes;
  ChaseProbe probe;
  probe.path = cache.setup.path;
  probe.shared_carveout_bytes = cache.setup.shared_carveout_bytes;
  ChaseLane lane;
  lane.sm = cache.setup.sm;
  for (std::uint64_t line = 0; line < stored_lines; ++line) {
    lane.offsets_bytes.push_back((stored_lines - 1 - line) * distance);
  }
  lane.stored_offsets_bytes = lane.offsets_bytes;
  probe.buffer_bytes = stored_lines * distance;
  probe.warmup_accesses = warmup_passes * stored_lines;
  probe.timed_accesses = stored_lines;
  probe.recorded_accesses = stored_lines;
  probe.preparation = warmup_passes > 0 ? Preparation::as_is : Preparation::flushed;
  probe.lanes = {lane};
  const Trace& trace = run.run(cache.name + " stores", probe);
  std::uint64_t hits = 0;
  for (std::uint32_t window : trace.lanes.front().window_cycles) {
    hits += window - cache.setup.overhead_cycles <= cache.threshold_cycles;
  }
  return static_cast<double>(hits) / static_cast<double>(stored_lines);
}

/// 0..1: how far a share lies from a toss-up.
double decided(double share) { return std::abs(2 * share - 1); }

}  // namespace

void report_write_policy(JobRun& run, const CacheUnderTest& cache, std::uint64_t line_bytes) {
  const std::string metric = cache.name + ".write_policy";
  double kept = 0;
  double allocated = 0;
  try {
    kept = hits_after_stores(run, cache, 2, line_bytes);
    allocated = hits_after_stores(run, cache, 0, line_bytes);
  } catch (const DeviceLostError&) {
    throw;
  } catch (const DeviceError& error) {
    run.report(not_resolvable(metric, error.what()));
    return;
  }
  constexpr double least_decided = 0.6;
  const double confidence = std::min(decided(kept), decided(allocated));
  const std::string seen =
      fmt::format("after a store {:.0f} % of {} resident lines hit, {:.0f} % of as many cold ones",
                  100 * kept, lines_to_store(cache), 100 * allocated);
  if (confidence < least_decided) {
    run.report(not_resolvable(metric, seen));
    return;
  }
  Finding finding = found(metric,
                          fmt::format("a store {} a line that is there, and {} one that is not",
                                      kept > 0.5 ? "keeps" : "invalidates",
                                      allocated > 0.5 ? "allocates" : "does not allocate"),
                          confidence, 2 * lines_to_store(cache));
  finding.reason = seen;
  run.report(std::move(finding));
}

void report_prefetch(JobRun& run, const CacheUnderTest& cache, std::uint64_t fetch_bytes) {
  constexpr std::uint64_t pages_bytes = 6_MiB;  // three large pages: a stream may end with one
  const bool own_space = cache.space_bytes > 0;
  // No cache is run ahead of by more than it holds.
  const std::uint64_t span_bytes =
      own_space ? cache.space_bytes : std::min(pages_bytes, cache.limit_bytes);
  constexpr std::uint64_t least_run = 8;  // fills of the next level bring a few neighbours
  const std::string metric = cache.name + ".prefetch_bytes";
  ChasePlan plan;
  plan.offsets = ascending_order(span_bytes, fetch_bytes);
  plan.passes = 3;
  plan.warmup_passes = own_space ? 1 : 0;
  plan.preparation = own_space ? Preparation::as_is : Preparation::flushed;
  // The longest record takes room from an L1, and nothing from a stream.
  ChaseSetup setup = set_up_chase(run, cache.setup.path, RecordSpace::longest);
  setup.sm = cache.setup.sm;
  const ChaseLatencies chase = measure_chase(run, setup, cache.name + " stream", plan);
  const std::vector<bool> missed = positions_above(chase, cache.threshold_cycles, 2);
  std::vector<double> runs_bytes;
  std::uint64_t hits = 0;
  for (bool miss : missed) {
    if (!miss) {
      ++hits;
      continue;
    }
    // The miss that began the run belongs to it.
    if (hits >= least_run) runs_bytes.push_back(static_cast<double>((hits + 1) * fetch_bytes));
    hits = 0;
  }
  if (runs_bytes.empty()) {
    run.report(
        not_present(metric, fmt::format("an ascending walk over {} meets no run of {} "
                                        "hits that nobody asked for",
                                        format_bytes(static_cast<double>(span_bytes)), least_run)));
    return;
  }
  const double longest = *std::max_element(runs_bytes.begin(), runs_bytes.end());
  const auto alike = static_cast<double>(std::count_if(
      runs_bytes.begin(), runs_bytes.end(), [&](double bytes) { return bytes > 0.98 * longest; }));
  Finding finding = found(metric, longest, alike >= 2 ? 1 : 0.8, runs_bytes.size());
  finding.reason =
      fmt::format("{} of {} runs of hits behind a cold miss are as long", alike, runs_bytes.size());
  run.report(std::move(finding));
}

void report_no_behaviour(JobRun& run, const std::string& cache, const std::string& reason) {
  run.report(not_present(cache + ".write_policy", reason));
  run.report(not_present(cache + ".prefetch_bytes", reason));
}

}  // namespace sonde
