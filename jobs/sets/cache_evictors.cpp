// Candidates for inner-level eviction lists, from few to many, each tried by chases: do lines miss
// the inner caches behind it? The first that works goes to jobs/sets/cache_probe.
#include "jobs/sets/cache_evictors.hpp"

#include "base/random.hpp"

namespace sonde {
namespace {

// Of so many accesses that ought to pass the inner caches one may not: an outlier elsewhere.
constexpr std::uint64_t tolerated = 1;

/// Whether a line that is accessed before the region in every pass passes the inner caches, and the
/// region itself stays in the cache.
bool evicts_line(const CacheUnderTest& cache, const Lines& region, std::uint64_t line) {
  constexpr std::uint64_t passes = 8;
  ChasePlan plan{.offsets = {line}, .warmup_passes = 3, .passes = passes};
  plan.offsets.insert(plan.offsets.end(), region.begin(), region.end());
  const ChaseLatencies chase = measure_chase(cache, "pass evictors", plan);
  std::uint64_t passed = 0;
  for (std::uint64_t pass = 0; pass < chase.passes(); ++pass) {
    passed += chase.cycles[pass * chase.positions] > cache.inner->threshold_cycles;
  }
  const std::size_t missing = count_set(positions_above(chase, cache.threshold_cycles, passes / 2));
  return passed + tolerated >= passes && missing == 0;
}

bool evicts_in_pass(const CacheUnderTest& cache, const Lines& region, std::uint64_t line_bytes) {
  constexpr int draws = 8;
  Random random(derive_seed(cache.seed, "scrub"));
  for (int draw = 0; draw < draws; ++draw) {
    const std::uint64_t line = random.below(region.front() / line_bytes) * line_bytes;
    if (!evicts_line(cache, region, line)) return false;
  }
  return true;
}

/// Each line twice, with the others accessed after both accesses.
bool evicts_in_access(const CacheUnderTest& cache, const Lines& lines,
                      const Lines& access_evictors) {
  ChasePlan plan{.passes = 2};
  for (std::uint64_t line : lines) {
    for (int access = 0; access < 2; ++access) {
      plan.offsets.push_back(line);
      plan.offsets.insert(plan.offsets.end(), access_evictors.begin(), access_evictors.end());
    }
  }
  const ChaseLatencies chase = measure_chase(cache, "access evictors", plan);
  std::uint64_t held = 0;
  for (std::size_t at = 0; at < chase.cycles.size(); at += access_evictors.size() + 1) {
    held += chase.cycles[at] <= cache.inner->threshold_cycles;
  }
  return held <= tolerated;
}

Lines without(const Lines& lines, std::size_t first, std::size_t count) {
  Lines rest(lines.begin(), lines.begin() + static_cast<std::ptrdiff_t>(first));
  const std::size_t behind = std::min(first + count, lines.size());
  rest.insert(rest.end(), lines.begin() + static_cast<std::ptrdiff_t>(behind), lines.end());
  return rest;
}

}  // namespace

std::optional<Lines> find_pass_evictors(const CacheUnderTest& cache, std::uint64_t line_bytes,
                                        std::uint64_t end_bytes, std::uint64_t most_bytes) {
  for (std::uint64_t halves : {2u, 3u, 4u, 6u, 8u}) {
    const std::uint64_t wanted_bytes = cache.inner->size_bytes * halves / 2;
    const std::uint64_t region_bytes = (wanted_bytes + line_bytes - 1) / line_bytes * line_bytes;
    if (region_bytes > std::min(most_bytes, end_bytes / 2)) return std::nullopt;
    for (std::uint64_t step_bytes : {line_bytes, std::min(line_bytes, cache.inner->line_bytes)}) {
      Lines region = ascending_order(region_bytes, step_bytes);
      for (std::uint64_t& offset : region) offset += end_bytes - region_bytes;
      if (evicts_in_pass(cache, region, line_bytes)) return region;
    }
  }
  return std::nullopt;
}

std::optional<Lines> find_access_evictors(const CacheUnderTest& cache, const Lines& lines,
                                          const Lines& candidates) {
  std::size_t tried = 4;
  Lines access_evictors;
  do {
    tried = std::min(2 * tried, candidates.size());
    access_evictors.assign(candidates.begin(),
                           candidates.begin() + static_cast<std::ptrdiff_t>(tried));
  } while (!evicts_in_access(cache, lines, access_evictors) && tried < candidates.size());
  if (!evicts_in_access(cache, lines, access_evictors)) return std::nullopt;
  for (std::size_t chunk = access_evictors.size() / 2; chunk > 0; chunk /= 2) {
    for (std::size_t first = 0; first < access_evictors.size();) {
      const Lines rest = without(access_evictors, first, chunk);
      if (!rest.empty() && evicts_in_access(cache, lines, rest)) {
        access_evictors = rest;
      } else {
        first += chunk;
      }
    }
  }
  return access_evictors;
}

}  // namespace sonde
