// Regions and lines tried one after the other.
#include "jobs/sets/inner_evictors.hpp"

#include "base/random.hpp"

#include <fmt/format.h>

namespace sonde {
namespace {

// Of so many accesses that ought to pass the inner caches one may not: a slow hit elsewhere.
constexpr std::uint64_t tolerated = 1;

/// A part of the cache may be taken by the pass_evictors: co_resident more, little could be
/// searched.
std::uint64_t most_evictor_bytes(std::uint64_t size_bytes) { return size_bytes / 2; }

struct PassOutcome {
  bool inner_emptied = false;
  bool itself_fits = false;
};

/// One drawn line before the region and the region itself, again and again.
PassOutcome try_pass_evictors(JobRun& run, const CacheUnderTest& cache, const Lines& pass_evictors,
                              std::uint64_t line) {
  constexpr std::uint64_t passes = 8;
  ChasePlan plan;
  plan.offsets = {line};
  plan.offsets.insert(plan.offsets.end(), pass_evictors.begin(), pass_evictors.end());
  plan.warmup_passes = 3;
  plan.passes = passes;
  const ChaseLatencies chase = measure_chase(run, cache.chase, cache.name + " scrub", plan);
  std::uint64_t passed = 0;
  for (std::uint64_t pass = 0; pass < chase.passes(); ++pass) {
    passed += chase.cycles[pass * chase.positions] > cache.inner->threshold_cycles;
  }
  const std::size_t missing = count_set(positions_above(chase, cache.threshold_cycles, passes / 2));
  return {passed + tolerated >= passes, missing == 0};
}

bool evicts_in_pass(JobRun& run, const CacheUnderTest& cache, const Lines& pass_evictors,
                    std::uint64_t line_bytes) {
  constexpr int draws = 8;
  Random random(derive_seed(cache.seed, "scrub"));
  for (int draw = 0; draw < draws; ++draw) {
    const std::uint64_t line = random.below(pass_evictors.front() / line_bytes) * line_bytes;
    const PassOutcome seen = try_pass_evictors(run, cache, pass_evictors, line);
    if (!seen.inner_emptied || !seen.itself_fits) return false;
  }
  return true;
}

Lines region(std::uint64_t span_bytes, std::uint64_t region_bytes, std::uint64_t step_bytes) {
  Lines lines;
  for (std::uint64_t offset = span_bytes - region_bytes; offset < span_bytes;
       offset += step_bytes) {
    lines.push_back(offset);
  }
  return lines;
}

/// Each line twice, with the others accessed after both accesses.
bool evicts_in_access(JobRun& run, const CacheUnderTest& cache, const Lines& lines,
                      const Lines& access_evictors) {
  ChasePlan plan;
  for (std::uint64_t line : lines) {
    for (int access = 0; access < 2; ++access) {
      plan.offsets.push_back(line);
      plan.offsets.insert(plan.offsets.end(), access_evictors.begin(), access_evictors.end());
    }
  }
  plan.passes = 2;
  const ChaseLatencies chase = measure_chase(run, cache.chase, cache.name + " rinse", plan);
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

std::optional<Lines> find_pass_evictors(JobRun& run, const CacheUnderTest& cache,
                                        std::uint64_t size_bytes, std::uint64_t line_bytes,
                                        std::uint64_t span_bytes) {
  for (std::uint64_t halves : {2u, 3u, 4u, 6u, 8u}) {
    const std::uint64_t wanted_bytes = cache.inner->size_bytes * halves / 2;
    const std::uint64_t region_bytes = (wanted_bytes + line_bytes - 1) / line_bytes * line_bytes;
    if (region_bytes > std::min(most_evictor_bytes(size_bytes), span_bytes / 2))
      return std::nullopt;
    for (std::uint64_t step_bytes : {line_bytes, cache.inner->line_bytes}) {
      const Lines pass_evictors =
          region(span_bytes, region_bytes, std::min(step_bytes, line_bytes));
      if (evicts_in_pass(run, cache, pass_evictors, line_bytes)) return pass_evictors;
    }
  }
  return std::nullopt;
}

std::optional<Lines> find_access_evictors(JobRun& run, const CacheUnderTest& cache,
                                          const Lines& lines, const Lines& candidates) {
  std::size_t tried = 4;
  Lines access_evictors;
  do {
    tried = std::min(2 * tried, candidates.size());
    access_evictors.assign(candidates.begin(),
                           candidates.begin() + static_cast<std::ptrdiff_t>(tried));
  } while (!evicts_in_access(run, cache, lines, access_evictors) && tried < candidates.size());
  if (!evicts_in_access(run, cache, lines, access_evictors)) return std::nullopt;
  for (std::size_t chunk = access_evictors.size() / 2; chunk > 0; chunk /= 2) {
    for (std::size_t first = 0; first < access_evictors.size();) {
      const Lines rest = without(access_evictors, first, chunk);
      if (!rest.empty() && evicts_in_access(run, cache, lines, rest)) {
        access_evictors = rest;
      } else {
        first += chunk;
      }
    }
  }
  return access_evictors;
}

}  // namespace sonde
