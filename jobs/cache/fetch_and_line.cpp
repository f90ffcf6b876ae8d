// A first access to every word of a few lines: the distance between its misses is the fetch. Sparse
// chases with one unit in blocks of growing size: the share of misses tells whether a block is one
// line. Where they leave it open, one eviction set and questions about pairs of its lines tell.
#include "jobs/cache/fetch_and_line.hpp"

#include "analysis/structure/sets/line_search.hpp"
#include "base/gpu_facts.hpp"
#include "base/random.hpp"
#include "jobs/cache/cache_probe.hpp"
#include "jobs/cache/capacity.hpp"
#include "jobs/cache/line_by_pairs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

namespace sonde {
namespace {

// Below this contrast, or in so small a cache, chases over parts of lines prove little.
constexpr double clear_contrast = 0.5;
constexpr std::uint64_t few_lines = 64;

// Spans that are tried: from one large page, which small pages and TLBs do not disturb, to one in
// which lines of 32 bytes at the longest distance overfill every set twice.
constexpr std::uint64_t least_spans_of_cache = 4;
constexpr std::uint64_t most_spans_of_cache = 64;
// Caches that need this overflow early; more lines may exceed their capacity, not that of a set.
constexpr std::size_t most_lines = 1024;

std::optional<BlockSize> distance_of_misses(const CacheUnderTest& cache, const ChasePlan& plan) {
  const ChaseLatencies chase = measure_chase(cache, "fetch", plan);
  return miss_distance(positions_above(chase, cache.threshold_cycles, 2),
                       entry_bytes(cache.chase.path));
}

/// A span to be touched once in each block.
struct LostSpan {
  std::uint64_t bytes = 0;
  double missing = 1;  // share of its fetched units, if all of them are accessed; not asked of code
                       // and constants, as nothing larger may be there
};

// Of a span that says something of lines: more than blocks of one line miss at least.
constexpr double least_lost = 0.28;

/// A cache that evicts in order loses all of 1.4 times its size; another one lost the first lines,
/// which the coarse size is made of, long before it was full, or keeps some of more than it holds.
LostSpan find_lost_span(const CacheUnderTest& cache, std::uint64_t coarse_size_bytes,
                        std::uint64_t fetch_bytes) {
  constexpr double growth = 1.2;
  constexpr double most_growth = 16;
  const auto span_of = [&](double factor) {
    return std::min(scale_span(coarse_size_bytes, factor * sparse_span, fetch_bytes),
                    cache.end_bytes());
  };
  if (cache.space_bytes > 0) return {span_of(1)};
  for (double factor = 1; factor < most_growth; factor *= growth) {
    const std::uint64_t span_bytes = span_of(factor);
    const SparseBlocks units = chase_sparse_blocks(
        cache, fmt::format("line, all of {}", span_bytes), span_bytes / fetch_bytes,
        [&](std::uint64_t order) { return shuffled_order(span_bytes, fetch_bytes, order); });
    if (units.missing >= least_lost) return {span_bytes, units.missing};
  }
  return {span_of(1), 0};
}

/// Whether the cache before this one holds so few lines, whatever this one does with them.
bool inner_holds(const CacheUnderTest& cache, std::uint64_t lines) {
  constexpr double clearly_more = 1.2;
  if (!cache.inner) return false;
  const std::uint64_t inner_lines = cache.inner->size_bytes / cache.inner->line_bytes;
  return static_cast<double>(lines) < clearly_more * static_cast<double>(inner_lines);
}

LineLength line_by_footprint(const CacheUnderTest& cache, std::uint64_t coarse_size_bytes,
                             std::uint64_t fetch_bytes) {
  const LostSpan lost = find_lost_span(cache, coarse_size_bytes, fetch_bytes);
  LineLength line{.bytes = fetch_bytes, .contrast = lost.missing > 0 ? 1.0 : 0.0};
  // As many lines miss as units of all do, or those of half as many lines.
  const double miss_limit = lost.missing > 0 ? std::min(one_line_miss_fraction, lost.missing / 2)
                                             : one_line_miss_fraction;
  for (std::uint64_t block = 2 * fetch_bytes; block <= longest_line_bytes; block *= 2) {
    const std::uint64_t span_bytes = lost.bytes / block * block;
    const SparseBlocks blocks = chase_sparse_blocks(
        cache, fmt::format("line {}", block), span_bytes / block,
        [&](std::uint64_t order) { return sparse_order(span_bytes, block, fetch_bytes, order); },
        miss_limit);
    line.contrast = std::min(line.contrast, blocks.contrast);
    if (blocks.stay && inner_holds(cache, span_bytes / block)) line.contrast = 0;
    if (blocks.stay) break;
    line.bytes = block;
  }
  return line;
}

/// Lines that may conflict: in a span, so far apart.
struct ConflictPool {
  std::uint64_t span_bytes = 0;
  std::uint64_t distance_bytes = 0;
};

/// Of global memory longer and longer spans, lines far apart; of a space of its own all of it, and
/// lines as far apart as lets some of them conflict.
std::vector<ConflictPool> conflict_pools(const CacheUnderTest& cache,
                                         std::uint64_t coarse_size_bytes) {
  constexpr std::uint64_t longest_line_of_spaces = 256;  // Wong 2010: constants
  std::vector<ConflictPool> pools;
  if (cache.space_bytes > 0) {
    const std::uint64_t span_bytes = std::bit_floor(cache.space_bytes);
    for (std::uint64_t distance : {longest_line_bytes, longest_line_of_spaces})
      pools.push_back({span_bytes, distance});
    return pools;
  }
  const std::uint64_t limit_bytes =
      std::min(std::max(large_page_bytes, most_spans_of_cache * coarse_size_bytes),
               cache.run.info().memory_bytes / 4);
  for (std::uint64_t span_bytes =
           std::max(large_page_bytes, std::bit_ceil(least_spans_of_cache * coarse_size_bytes));
       span_bytes <= limit_bytes; span_bytes *= 4) {
    pools.push_back({span_bytes, longest_line_bytes});
  }
  return pools;
}

/// nullopt if no set is found to overflow. Asks on one SM only. @throws SearchOverTime
/// @param coarse_size_bytes or less: lines are looked for in a span of many times that
std::optional<LineByConflicts> line_by_conflicts(const CacheUnderTest& cache,
                                                 std::uint64_t coarse_size_bytes,
                                                 std::uint64_t fetch_bytes) {
  CacheProbe probe(cache, coarse_size_bytes, fetch_bytes);
  probe.limit_search();
  std::string reason;
  for (const auto& [span_bytes, distance_bytes] : conflict_pools(cache, coarse_size_bytes)) {
    const auto evictors = probe.find_pass_evictors(span_bytes);
    if (!evictors) continue;
    const std::uint64_t end_bytes =
        evictors->accessed.empty() ? span_bytes : evictors->accessed.front();
    const std::uint64_t pool_bytes = end_bytes / distance_bytes * distance_bytes;
    if (pool_bytes == 0) continue;
    Lines pool =
        shuffled_order(pool_bytes, distance_bytes, derive_seed(cache.seed, "line by conflicts"));
    std::erase_if(pool, [&](std::uint64_t line) {
      return std::ranges::binary_search(evictors->taken, line);
    });
    pool.resize(std::min(pool.size(), most_lines));
    const MissOracle ask = ask_behind(probe, *evictors);
    if (const auto conflict = find_eviction_set(pool, ask, reason)) {
      return find_line(*conflict, fetch_bytes, distance_bytes, ask);
    }
  }
  return std::nullopt;
}

}  // namespace

SparseBlocks chase_sparse_blocks(const CacheUnderTest& cache, const std::string& label,
                                 std::uint64_t blocks,
                                 const std::function<Offsets(std::uint64_t seed)>& order,
                                 double miss_limit) {
  // Small caches have few sets: one order may fall badly. In six random orders of so few blocks the
  // share of misses varies by a quarter of that limit.
  constexpr std::uint64_t few_blocks = 128;
  const std::uint64_t orders = blocks < few_blocks ? 24 : blocks < coarse_samples ? 6 : 1;
  double sum = 0;
  for (std::uint64_t number = 0; number < orders; ++number) {
    const ChasePlan plan{.offsets = order(cache.seed + number), .warmup_passes = 2};
    sum += measure_miss_fraction(cache, label, plan);
  }
  const double missing = sum / static_cast<double>(orders);
  const double apart = std::abs(missing - miss_limit) / miss_limit;
  return {missing < miss_limit, std::min(1.0, apart), missing};
}

std::optional<BlockSize> measure_fetch(const CacheUnderTest& cache) {
  constexpr std::uint64_t accessed_bytes = 4 * longest_line_bytes;
  ChasePlan plan;
  plan.passes = 3;
  plan.offsets = descending_order(accessed_bytes, entry_bytes(cache.chase.path));
  if (cache.space_bytes > accessed_bytes) {
    ChasePlan pushed_out = plan;
    pushed_out.offsets.clear();
    const std::uint64_t step_bytes = std::max(smallest_line_bytes, access_bytes(cache.chase.path));
    // Twice in a row: some policies replace no line that was hit by one that was not.
    constexpr std::uint64_t in_a_row = 2;
    const std::uint64_t others =
        std::min((cache.space_bytes - accessed_bytes) / step_bytes,
                 (longest_list(cache.chase) - plan.offsets.size()) / in_a_row);
    for (std::uint64_t other = 0; other < others; ++other) {
      pushed_out.offsets.insert(pushed_out.offsets.end(), in_a_row,
                                accessed_bytes + other * step_bytes);
    }
    pushed_out.skipped = pushed_out.offsets.size();
    pushed_out.offsets.insert(pushed_out.offsets.end(), plan.offsets.begin(), plan.offsets.end());
    if (const auto fetch = distance_of_misses(cache, pushed_out)) return fetch;
  }
  plan.warmup_passes = 0;
  plan.preparation = Preparation::flushed;
  return distance_of_misses(cache, plan);
}

LineLength measure_line(const CacheUnderTest& cache, std::uint64_t coarse_size_bytes,
                        std::uint64_t fetch_bytes) {
  const LineLength line = line_by_footprint(cache, coarse_size_bytes, fetch_bytes);
  const std::uint64_t lines = coarse_size_bytes / line.bytes;
  const bool is_clear = line.contrast >= clear_contrast && lines >= few_lines;
  // Code is fetched ahead and evicted by other SMs: on an H200 pairs of places were of one line up
  // to 256 bytes in one run and up to 1024 in the next.
  const bool is_code = cache.chase.path == LoadPath::instruction;
  constexpr double by_chance = 0.5;  // of two answers one
  if (is_clear || is_large(coarse_size_bytes, line.bytes)) return line;
  if (cache.space_bytes > 0) {
    const auto by_pairs = measure_line_by_pairs(cache, fetch_bytes);
    if (by_pairs && by_pairs->contrast > line.contrast) return *by_pairs;
  }
  if (is_code) return line;
  try {
    const auto conflicts = line_by_conflicts(cache, coarse_size_bytes, fetch_bytes);
    if (!conflicts || conflicts->agreement <= by_chance) return line;
    return {conflicts->bytes, 2 * conflicts->agreement - 1};
  } catch (const SearchOverTime&) {
    return line;
  }
}

}  // namespace sonde
