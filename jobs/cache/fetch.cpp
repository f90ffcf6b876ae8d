// A first access to every word of a few lines; the distance between its misses is the fetch that
// jobs/cache/geometry starts from.
#include "jobs/cache/fetch.hpp"

#include "base/gpu_facts.hpp"

#include <algorithm>

namespace sonde {
namespace {

std::optional<BlockSize> distance_of_misses(const CacheUnderTest& cache, const ChasePlan& plan) {
  const ChaseLatencies chase = measure_chase(cache, "fetch", plan);
  return miss_distance(positions_above(chase, cache.threshold_cycles, 2),
                       access_bytes(cache.chase.path));
}

}  // namespace

std::optional<BlockSize> measure_fetch(const CacheUnderTest& cache) {
  constexpr std::uint64_t accessed_bytes = 4 * longest_line_bytes;
  constexpr std::uint64_t shortest_line_bytes = 64;  // of constants and code
  const std::uint64_t unit_bytes = access_bytes(cache.chase.path);
  ChasePlan plan;
  plan.passes = 3;
  plan.offsets = descending_order(accessed_bytes, unit_bytes);
  if (cache.space_bytes > accessed_bytes) {
    ChasePlan pushed_out = plan;
    pushed_out.offsets.clear();
    const std::uint64_t step_bytes = std::max(shortest_line_bytes, unit_bytes);
    for (std::uint64_t offset = accessed_bytes; offset < cache.space_bytes; offset += step_bytes) {
      pushed_out.offsets.push_back(offset);
    }
    pushed_out.skipped = pushed_out.offsets.size();
    pushed_out.offsets.insert(pushed_out.offsets.end(), plan.offsets.begin(), plan.offsets.end());
    if (const auto fetch = distance_of_misses(cache, pushed_out)) return fetch;
  }
  plan.warmup_passes = 0;
  plan.preparation = Preparation::flushed;
  return distance_of_misses(cache, plan);
}

}  // namespace sonde
