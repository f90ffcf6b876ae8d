// Regions and lines tried one after the other.
#include "jobs/scrub.hpp"

#include "base/random.hpp"

#include <fmt/format.h>

namespace sonde {
namespace {

// Of so many visits that ought to pass the nearer caches one may not: a slow hit elsewhere.
constexpr std::uint64_t tolerated = 1;

/// A part of the cache may be taken by the scrub: beside more, little could be searched.
std::uint64_t most_scrub_bytes(std::uint64_t size_bytes) { return size_bytes / 2; }

struct Scrubbed {
  bool nearer_emptied = false;
  bool itself_fits = false;
};

/// One drawn line before the region and the region itself, again and again.
Scrubbed try_scrub(JobRun& run, const CacheSubject& cache, const Lines& scrub, std::uint64_t line) {
  constexpr std::uint64_t passes = 8;
  WalkPlan plan;
  plan.offsets = {line};
  plan.offsets.insert(plan.offsets.end(), scrub.begin(), scrub.end());
  plan.warmup_passes = 3;
  plan.passes = passes;
  const WalkLatencies walk = measure_walk(run, cache.setup, cache.name + " scrub", plan);
  std::uint64_t passed = 0;
  for (std::uint64_t pass = 0; pass < walk.passes(); ++pass) {
    passed += walk.cycles[pass * walk.positions] > cache.nearer->threshold_cycles;
  }
  const std::size_t missing = count_set(positions_above(walk, cache.threshold_cycles, passes / 2));
  return {passed + tolerated >= passes, missing == 0};
}

bool is_scrub(JobRun& run, const CacheSubject& cache, const Lines& scrub,
              std::uint64_t line_bytes) {
  constexpr int draws = 8;
  Random random(derive_seed(cache.seed, "scrub"));
  for (int draw = 0; draw < draws; ++draw) {
    const std::uint64_t line = random.below(scrub.front() / line_bytes) * line_bytes;
    const Scrubbed seen = try_scrub(run, cache, scrub, line);
    if (!seen.nearer_emptied || !seen.itself_fits) return false;
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

/// Each line twice, with the others visited after both visits.
bool is_rinse(JobRun& run, const CacheSubject& cache, const Lines& lines, const Lines& rinse) {
  WalkPlan plan;
  for (std::uint64_t line : lines) {
    for (int visit = 0; visit < 2; ++visit) {
      plan.offsets.push_back(line);
      plan.offsets.insert(plan.offsets.end(), rinse.begin(), rinse.end());
    }
  }
  plan.passes = 2;
  const WalkLatencies walk = measure_walk(run, cache.setup, cache.name + " rinse", plan);
  std::uint64_t held = 0;
  for (std::size_t at = 0; at < walk.cycles.size(); at += rinse.size() + 1) {
    held += walk.cycles[at] <= cache.nearer->threshold_cycles;
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

std::optional<Lines> find_scrub(JobRun& run, const CacheSubject& cache, std::uint64_t size_bytes,
                                std::uint64_t line_bytes, std::uint64_t span_bytes) {
  for (std::uint64_t halves : {2u, 3u, 4u, 6u, 8u}) {
    const std::uint64_t wanted_bytes = cache.nearer->size_bytes * halves / 2;
    const std::uint64_t region_bytes = (wanted_bytes + line_bytes - 1) / line_bytes * line_bytes;
    if (region_bytes > std::min(most_scrub_bytes(size_bytes), span_bytes / 2)) return std::nullopt;
    for (std::uint64_t step_bytes : {line_bytes, cache.nearer->line_bytes}) {
      const Lines scrub = region(span_bytes, region_bytes, std::min(step_bytes, line_bytes));
      if (is_scrub(run, cache, scrub, line_bytes)) return scrub;
    }
  }
  return std::nullopt;
}

std::optional<Lines> find_rinse(JobRun& run, const CacheSubject& cache, const Lines& lines,
                                const Lines& candidates) {
  std::size_t tried = 4;
  Lines rinse;
  do {
    tried = std::min(2 * tried, candidates.size());
    rinse.assign(candidates.begin(), candidates.begin() + static_cast<std::ptrdiff_t>(tried));
  } while (!is_rinse(run, cache, lines, rinse) && tried < candidates.size());
  if (!is_rinse(run, cache, lines, rinse)) return std::nullopt;
  for (std::size_t chunk = rinse.size() / 2; chunk > 0; chunk /= 2) {
    for (std::size_t first = 0; first < rinse.size();) {
      const Lines rest = without(rinse, first, chunk);
      if (!rest.empty() && is_rinse(run, cache, lines, rest)) {
        rinse = rest;
      } else {
        first += chunk;
      }
    }
  }
  return rinse;
}

}  // namespace sonde
