// Latency classes of growing footprints below what the L2 takes: the first is the cache's own.
#include "jobs/cache/middle_cache.hpp"

#include "analysis/statistics.hpp"
#include "analysis/structure/latency/latency_classes.hpp"
#include "analysis/structure/latency/latency_gaps.hpp"
#include "base/gpu_facts.hpp"
#include "base/units.hpp"
#include "jobs/cache/l2_partitions.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace sonde {
namespace {

constexpr std::uint64_t smallest_footprint_bytes = 4_KiB;

std::vector<FootprintChase> chase_footprints(const CacheUnderTest& cache,
                                             std::uint64_t step_bytes) {
  constexpr std::uint64_t enough = 1024;
  std::vector<FootprintChase> chases;
  for (std::uint64_t span_bytes = smallest_footprint_bytes; span_bytes <= 2 * cache.limit_bytes;
       span_bytes *= 2) {
    ChasePlan plan = steady_plan(cache.chase, span_bytes, step_bytes, cache.seed, enough);
    plan.offsets = page_by_page(std::move(plan.offsets));
    chases.push_back(
        {span_bytes,
         measure_chase(cache, fmt::format("levels {} step {}", span_bytes, step_bytes), plan)
             .cycles});
  }
  return chases;
}

}  // namespace

std::optional<double> threshold_before_middle(const CacheUnderTest& cache) {
  // A cache of short lines keeps as many long ones as a larger one behind it: then steps of the
  // short ones tell.
  for (const std::uint64_t step_bytes : {common_line_bytes, smallest_line_bytes}) {
    const std::vector<LatencyClass> classes =
        find_latency_classes(chase_footprints(cache, step_bytes), least_first_cache_gap_cycles);
    if (classes.size() >= 2 && median(classes[1].cycles) < cache.threshold_cycles)
      return threshold_between(classes[0], classes[1]);
  }
  return {};
}

std::optional<double> threshold_of_common_cache(const CacheUnderTest& cache,
                                                const std::vector<double>& memory_cycles) {
  const std::vector<LatencyClass> classes =
      find_latency_classes(chase_footprints(cache, common_line_bytes), least_level_gap_cycles);
  if (classes.size() < 2) return {};
  const double soonest_memory = quantile(memory_cycles, 0.1) - least_memory_gap_cycles;
  if (median(classes[1].cycles) >= soonest_memory) return {};
  return threshold_between(classes[0], classes[1]);
}

bool is_shared_by_all(const CacheUnderTest& cache, double threshold_cycles) {
  constexpr std::uint64_t lines = 64;
  constexpr std::uint64_t distance_bytes = 512;  // more than a fetch brings
  constexpr double least_hits = 0.8;
  ChaseProbe probe;
  probe.buffer_bytes = lines * distance_bytes;
  probe.place = cache.chase.place;
  probe.timed_accesses = probe.recorded_accesses = lines;
  probe.concurrency = Concurrency::in_turn;
  probe.preparation = Preparation::flushed;
  probe.shared_carveout_bytes = cache.chase.shared_carveout_bytes;
  const auto lane_of = [&](int sm) {
    return ChaseLane{.sm = sm,
                     .offsets_bytes = descending_order(probe.buffer_bytes, distance_bytes),
                     .path = cache.chase.path};
  };
  std::size_t asked = 0;
  for (const int sm : sms_all_over(cache.run)) {
    if (sm == cache.chase.sm) continue;
    ++asked;
    probe.lanes = {lane_of(cache.chase.sm), lane_of(sm)};
    const Trace& trace = cache.run.run(fmt::format("{} shared with SM {}", cache.name, sm), probe);
    const auto hits =
        std::ranges::count_if(trace.lanes.back().window_cycles, [&](std::uint32_t window) {
          return window - cache.chase.overhead_cycles <= threshold_cycles;
        });
    if (static_cast<double>(hits) < least_hits * static_cast<double>(lines)) return false;
  }
  return asked > 0;
}

}  // namespace sonde
