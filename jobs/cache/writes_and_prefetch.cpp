// Derives the write policy from loads after stores, and the prefetch from one ascending stream.
#include "jobs/cache/writes_and_prefetch.hpp"

#include "base/gpu_facts.hpp"
#include "base/units.hpp"
#include "jobs/run/attempt.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace sonde {
namespace {

constexpr std::uint64_t word_bytes = 8;  // bytes of one store
constexpr std::uint64_t least_stored_lines = 64;
// Each line lies in a DRAM page of its own.
constexpr std::uint64_t line_distance_bytes = 4_KiB + 512;

/// More lines than inner caches hold, so that they cannot answer.
std::uint64_t lines_to_store(const CacheUnderTest& cache) {
  if (!cache.inner) return least_stored_lines;
  return std::max(least_stored_lines, 2 * cache.inner->size_bytes / cache.inner->line_bytes);
}

/// Stores to lines, and which word of each is loaded afterwards.
struct StoredLines {
  std::uint64_t distance_bytes = line_distance_bytes;
  bool are_resident = false;                // each line is loaded before the stores
  std::uint64_t stored_bytes = word_bytes;  // bytes stored, from the start of the line
  std::uint64_t loaded_place = 0;
};

/// Share of lines that hit in one load of each after the stores.
double hits_after_stores(const CacheUnderTest& cache, const StoredLines& lines) {
  const std::uint64_t stored_lines = lines_to_store(cache);
  ChaseProbe probe;
  probe.shared_carveout_bytes = cache.chase.shared_carveout_bytes;
  probe.buffer_bytes = stored_lines * lines.distance_bytes;
  const Offsets starts = descending_order(probe.buffer_bytes, lines.distance_bytes);
  ChaseLane lane{.sm = cache.chase.sm, .offsets_bytes = {}, .path = cache.chase.path};
  for (const std::uint64_t start : starts) {
    lane.offsets_bytes.push_back(start + lines.loaded_place);
    for (std::uint64_t word = 0; word < lines.stored_bytes; word += word_bytes)
      lane.stored_offsets_bytes.push_back(start + word);
  }
  probe.lanes = {std::move(lane)};
  probe.warmup_accesses = lines.are_resident ? 2 * stored_lines : 0;
  probe.timed_accesses = probe.recorded_accesses = stored_lines;
  probe.preparation = lines.are_resident ? Preparation::as_is : Preparation::flushed;
  const Trace& trace = cache.run.run(cache.name + " stores", probe);
  std::uint64_t hits = 0;
  for (std::uint32_t window : trace.lanes.front().window_cycles) {
    hits += window - cache.chase.overhead_cycles <= cache.threshold_cycles;
  }
  return static_cast<double>(hits) / static_cast<double>(stored_lines);
}

/// Distance of a share from one half, scaled to 0..1.
double distance_from_half(double share) { return std::abs(2 * share - 1); }

/// An ascending chase over the size of the cache, or over all that can be chased.
ChasePlan plan_stream(const CacheUnderTest& cache, const ChaseSetup& setup,
                      std::uint64_t fetch_bytes) {
  constexpr std::uint64_t pages_bytes = 3 * large_page_bytes;  // a stream may end with a page
  const bool own_space = cache.space_bytes > 0;
  // A prefetcher does not run ahead by more than the cache holds.
  const std::uint64_t span_bytes =
      own_space ? cache.space_bytes : std::min(pages_bytes, cache.limit_bytes);
  const std::uint64_t fetches = std::min(span_bytes / fetch_bytes, longest_list(setup));
  return {.offsets = ascending_order(fetches * fetch_bytes, fetch_bytes),
          .warmup_passes = own_space ? 1u : 0u,
          .passes = 3,
          .preparation = own_space ? Preparation::as_is : Preparation::flushed};
}

constexpr std::uint64_t least_run = 8;  // fills of the next level bring a few neighbours

/// Lengths of runs of hits after a miss, including the miss.
std::vector<double> runs_of_hits(const std::vector<bool>& missed, std::uint64_t fetch_bytes) {
  std::vector<double> runs_bytes;
  std::uint64_t hits = 0;
  for (bool miss : missed) {
    if (miss && hits >= least_run) {
      runs_bytes.push_back(static_cast<double>((hits + 1) * fetch_bytes));
    }
    hits = miss ? 0 : hits + 1;
  }
  return runs_bytes;
}

}  // namespace

void report_write_policy(const CacheUnderTest& cache, std::uint64_t line_bytes) {
  const std::string metric = cache.name + ".write_policy";
  double kept = 0;
  double allocated = 0;
  double words_behind = 0;  // share of hits of the word after the stored one in cold lines
  const auto refusal = refusal_of([&] {
    kept = hits_after_stores(cache, {.distance_bytes = line_bytes, .are_resident = true});
    allocated = hits_after_stores(cache, {});
    words_behind = hits_after_stores(cache, {.loaded_place = word_bytes});
  });
  if (refusal) return cache.run.report(not_resolvable(metric, *refusal));
  constexpr double least_distance = 0.6;
  const double confidence = std::min(distance_from_half(kept), distance_from_half(allocated));
  const std::string seen = fmt::format(
      "after stores of 8 bytes, {:.0f} % of {} resident lines hit, {:.0f} % of as many missing "
      "lines, and {:.0f} % of the next words of the missing lines",
      100 * kept, lines_to_store(cache), 100 * allocated, 100 * words_behind);
  if (confidence < least_distance) return cache.run.report(not_resolvable(metric, seen));
  const std::string policy = fmt::format("a store {} a resident line, and {} a missing line",
                                         kept > 0.5 ? "keeps" : "invalidates",
                                         allocated > 0.5 ? "allocates" : "does not allocate");
  cache.run.report(found(metric, policy, confidence, 2 * lines_to_store(cache)), seen);
}

std::optional<std::uint64_t> sector_of_stores(const CacheUnderTest& cache,
                                              std::uint64_t asked_bytes,
                                              std::uint64_t fetch_bytes) {
  constexpr double nearly_all = 0.9;
  std::optional<std::uint64_t> sector_bytes;
  refusal_of([&] {
    for (std::uint64_t bytes = asked_bytes; bytes < fetch_bytes && !sector_bytes; bytes *= 2) {
      StoredLines lines{.stored_bytes = bytes};
      const bool is_there = hits_after_stores(cache, lines) >= nearly_all;
      lines.loaded_place = bytes;
      const bool is_alone = hits_after_stores(cache, lines) <= 1 - nearly_all;
      if (is_there && !is_alone) return;  // then stores fetch, too
      if (is_there) sector_bytes = bytes;
    }
  });
  return sector_bytes;
}

void report_prefetch(const CacheUnderTest& cache, std::uint64_t fetch_bytes) {
  const std::string metric = cache.name + ".prefetch_bytes";
  // The longest record shrinks the L1, which does not affect a stream.
  ChaseSetup setup = set_up_chase(cache.run, cache.chase.path, RecordSpace::longest);
  setup.sm = cache.chase.sm;
  const ChasePlan plan = plan_stream(cache, setup, fetch_bytes);
  const ChaseLatencies chase = measure_chase(cache.run, setup, cache.name + " stream", plan);
  const std::vector<double> runs_bytes =
      runs_of_hits(positions_above(chase, cache.threshold_cycles, 2), fetch_bytes);
  if (runs_bytes.empty()) {
    const auto span_bytes = static_cast<double>(plan.offsets.size() * fetch_bytes);
    return cache.run.report(not_present(
        metric, fmt::format("an ascending chase over {} shows no run of {} hits without "
                            "an earlier access",
                            format_bytes(span_bytes), least_run)));
  }
  const double longest = *std::max_element(runs_bytes.begin(), runs_bytes.end());
  const auto alike = static_cast<double>(std::count_if(
      runs_bytes.begin(), runs_bytes.end(), [&](double bytes) { return bytes > 0.98 * longest; }));
  if (alike < 2 && cache.space_bytes > 0) {
    // In a cyclic chase, one run may be what random replacement left from the pass before.
    return cache.run.report(not_resolvable(
        metric, fmt::format("of {} runs of hits after a miss, only one is as long as {}",
                            runs_bytes.size(), format_bytes(longest))));
  }
  cache.run.report(
      found(metric, longest, alike >= 2 ? 1 : 0.8, runs_bytes.size()),
      fmt::format("{} of {} runs of hits after a cold miss are as long", alike, runs_bytes.size()));
}

}  // namespace sonde
