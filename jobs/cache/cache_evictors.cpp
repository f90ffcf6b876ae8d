// Candidates for inner-level eviction lists, from few lines to many, each tried by chases: do lines
// miss the inner caches after it? The first that works goes to jobs/cache/cache_probe.
#include "jobs/cache/cache_evictors.hpp"

#include "base/random.hpp"

#include <algorithm>
#include <functional>
#include <set>
#include <span>

namespace sonde {
namespace {

// Accesses that may hit the inner caches although the list works: one outlier of a miss.
constexpr std::uint64_t tolerated = 1;

/// What stayed in the inner caches during a chase over one line and then over a region.
struct Staying {
  std::uint64_t passes_of_line = 0;    // passes in which the line hit an inner cache
  std::uint64_t passes_of_region = 0;  // the same for the lines of the region, summed
};

Staying count_staying(const CacheUnderTest& cache, std::uint64_t line, const Lines& region,
                      std::uint64_t passes) {
  ChasePlan plan{.offsets = region, .warmup_passes = 3, .passes = passes};
  plan.offsets.insert(plan.offsets.begin(), line);
  const ChaseLatencies chase = measure_chase(cache, "pass evictors", plan);
  const auto is_inner_hit = [&](std::size_t pass, std::size_t position) {
    return chase.cycles[pass * chase.positions + position] <= cache.inner->threshold_cycles;
  };
  Staying staying;
  for (std::size_t pass = 0; pass < chase.passes(); ++pass) {
    staying.passes_of_line += is_inner_hit(pass, 0);
    for (std::size_t i = 0; i < region.size(); ++i)
      staying.passes_of_region += is_inner_hit(pass, 1 + i);
  }
  return staying;
}

/// What a candidate does to the inner caches.
struct InPass {
  bool evicts = false;         // lines before it hardly ever stay there
  bool evicts_itself = false;  // neither do its own lines, from pass to pass
};

/// Tries a region with one of several lines before it at a time. Random replacement keeps a line
/// now and then; a policy that keeps some lines permanently must not be mistaken for that.
InPass try_in_pass(const CacheUnderTest& cache, const Lines& region, std::uint64_t line_bytes) {
  constexpr int tried_lines = 8;
  constexpr std::uint64_t passes = 8;
  // With one hit in ten per line, an overfull set of two lines still misses in three quarters of
  // the passes.
  constexpr std::uint64_t few = 10;  // one in this many
  Random random(derive_seed(cache.seed, "scrub"));
  Staying sum;
  for (int tried = 0; tried < tried_lines; ++tried) {
    const std::uint64_t line = random.below(region.front() / line_bytes) * line_bytes;
    const Staying staying = count_staying(cache, line, region, passes);
    sum.passes_of_line += staying.passes_of_line;
    sum.passes_of_region += staying.passes_of_region;
    if (2 * staying.passes_of_line > passes || few * sum.passes_of_line > tried_lines * passes)
      return {};
  }
  return {true, few * sum.passes_of_region <= tried_lines * passes * region.size()};
}

/// Whether the region stays in the cache when only the region is accessed.
bool stays(const CacheUnderTest& cache, const Lines& region) {
  constexpr std::uint64_t passes = 8;
  const ChaseLatencies chase = measure_chase(
      cache, "pass evictors", {.offsets = region, .warmup_passes = 3, .passes = passes});
  return count_set(positions_above(chase, cache.threshold_cycles, passes / 2)) == 0;
}

/// Regions that end at `end_bytes`, of one to six times the size of the inner caches, in steps of a
/// line, and in steps of an inner line where that is shorter.
std::vector<Lines> regions_before(const CacheUnderTest& cache, std::uint64_t line_bytes,
                                  std::uint64_t end_bytes, std::uint64_t most_bytes) {
  std::vector<Lines> regions;
  for (std::uint64_t quarters : {4u, 5u, 6u, 8u, 10u, 12u, 16u, 24u}) {
    const std::uint64_t wanted_bytes = cache.inner->size_bytes * quarters / 4;
    const std::uint64_t region_bytes = (wanted_bytes + line_bytes - 1) / line_bytes * line_bytes;
    if (region_bytes > std::min(most_bytes, end_bytes / 2)) break;
    for (std::uint64_t step_bytes : std::set<std::uint64_t, std::greater<>>{
             line_bytes, std::min(line_bytes, cache.inner->line_bytes)}) {
      Lines& region = regions.emplace_back(ascending_order(region_bytes, step_bytes));
      for (std::uint64_t& offset : region) offset += end_bytes - region_bytes;
    }
  }
  return regions;
}

constexpr std::uint64_t count_passes = 2;

/// Counts accesses to `lines` that hit an inner cache, in a chase with `access_evictors` after each
/// of them.
std::uint64_t count_held(const CacheUnderTest& cache, std::span<const std::uint64_t> lines,
                         const Lines& access_evictors) {
  ChasePlan plan{.passes = count_passes};
  for (std::uint64_t line : lines) {
    plan.offsets.push_back(line);
    plan.offsets.insert(plan.offsets.end(), access_evictors.begin(), access_evictors.end());
  }
  const ChaseLatencies chase = measure_chase(cache, "access evictors", plan);
  std::uint64_t held = 0;
  for (std::size_t at = 0; at < chase.cycles.size(); at += access_evictors.size() + 1) {
    held += chase.cycles[at] <= cache.inner->threshold_cycles;
  }
  return held;
}

/// Whether accesses in this order miss the inner caches, with `access_evictors` after each of them.
/// An order that is too long for one chase is split into several.
bool evicts_in_access(const CacheUnderTest& cache, const Lines& order,
                      const Lines& access_evictors) {
  const std::size_t most =
      longest_recorded_list(cache.chase, count_passes) / (access_evictors.size() + 1);
  if (most == 0) return false;
  std::uint64_t held = 0;
  for (std::size_t first = 0; first < order.size() && held <= tolerated; first += most) {
    const std::size_t count = std::min(most, order.size() - first);
    held += count_held(cache, std::span(order).subspan(first, count), access_evictors);
  }
  return held <= tolerated;
}

Lines without(const Lines& lines, std::size_t first, std::size_t count) {
  Lines rest = lines;
  const auto begin = rest.begin() + static_cast<std::ptrdiff_t>(first);
  rest.erase(begin, begin + static_cast<std::ptrdiff_t>(std::min(count, lines.size() - first)));
  return rest;
}

}  // namespace

std::optional<Lines> find_pass_evictors(const CacheUnderTest& cache, std::uint64_t line_bytes,
                                        std::uint64_t end_bytes, std::uint64_t most_bytes) {
  std::optional<Lines> first;  // evicts all lines but its own
  for (const Lines& region : regions_before(cache, line_bytes, end_bytes, most_bytes)) {
    const InPass in_pass = try_in_pass(cache, region, line_bytes);
    if (!in_pass.evicts || (first && !in_pass.evicts_itself) || !stays(cache, region)) continue;
    first = region;
    if (in_pass.evicts_itself) break;
  }
  return first;
}

std::optional<Lines> find_access_evictors(const CacheUnderTest& cache, const Lines& lines,
                                          const Lines& candidates,
                                          const std::function<void()>& check_end) {
  Lines twice;  // each line twice in a row
  for (std::uint64_t line : lines) twice.insert(twice.end(), 2, line);
  const auto evict = [&](const Lines& evictors) {
    check_end();
    return evicts_in_access(cache, twice, evictors);
  };
  const auto first_candidates = [&](std::size_t count) {
    return Lines(candidates.begin(), candidates.begin() + static_cast<std::ptrdiff_t>(
                                                              std::min(count, candidates.size())));
  };
  std::size_t tried = 8;
  Lines access_evictors = first_candidates(tried);
  while (!evict(access_evictors)) {
    if (tried >= candidates.size()) return std::nullopt;
    tried *= 2;
    access_evictors = first_candidates(tried);
  }
  for (std::size_t chunk = access_evictors.size() / 2; chunk > 0; chunk /= 2) {
    for (std::size_t first = 0; first < access_evictors.size();) {
      const Lines rest = without(access_evictors, first, chunk);
      if (!rest.empty() && evict(rest)) {
        access_evictors = rest;
      } else {
        first += chunk;
      }
    }
  }
  return access_evictors;
}

}  // namespace sonde
