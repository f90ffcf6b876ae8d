// The fetch is the distance of the misses of a first access to every word of a few lines. The line
// comes from sparse chases of one unit in blocks of growing size: the share of misses tells if a
// block is one line. If that is unclear for constants or code, chases over pairs of places decide.
#include "jobs/cache/fetch_and_line.hpp"

#include "base/gpu_facts.hpp"
#include "base/random.hpp"
#include "jobs/cache/capacity.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

namespace sonde {
namespace {

// Below this contrast, or in a smaller cache, chases over parts of lines prove little.
constexpr double clear_contrast = 0.5;
constexpr std::uint64_t few_lines = 64;

std::optional<BlockSize> distance_of_misses(const CacheUnderTest& cache, const ChasePlan& plan) {
  const ChaseLatencies chase = measure_chase(cache, "fetch", plan);
  return miss_distance(positions_above(chase, cache.threshold_cycles, 2),
                       entry_bytes(cache.chase.path));
}

/// Factor on the size: one line per block overflows the cache, half as many leave space in every
/// set, even in uneven sets.
constexpr double sparse_span = 1.4;

struct SparseBlocks {
  bool stay = false;    // fewer blocks miss than the limit
  double contrast = 0;  // 0..1: distance from that limit
  double missing = 0;   // share of blocks that miss, 0..1
};

/// If each block is a line, at least one access in four misses.
constexpr double one_line_miss_fraction = 0.25;

/// Whether one unit of each block stays; the mean of several orders if the blocks are few.
SparseBlocks chase_sparse_blocks(const CacheUnderTest& cache, const std::string& label,
                                 std::uint64_t blocks,
                                 const std::function<Offsets(std::uint64_t seed)>& order,
                                 double miss_limit = one_line_miss_fraction) {
  // Small caches have few sets, and one order may be untypical. The share of misses of few blocks
  // in six random orders varies by a quarter of that limit.
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

/// A span that overflows the cache, accessed once in each block.
struct LostSpan {
  std::uint64_t bytes = 0;
  double missing = 1;  // share of misses if all its units are accessed; of code and constants 1
};

// Share of misses that makes a span useful: above one_line_miss_fraction.
constexpr double least_lost = 0.28;

/// Starts at 1.4 times the size, which a cache with in-order eviction loses entirely. Grows the
/// span for other caches, which lost their first lines early or keep a part of a larger span.
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

/// Whether the inner caches hold this many lines, so that the result says nothing on this cache.
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
  // If a block is one line, as large a share misses as of all units. The limit is half of it.
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

}  // namespace

std::optional<BlockSize> measure_fetch(const CacheUnderTest& cache) {
  constexpr std::uint64_t accessed_bytes = 4 * longest_line_bytes;
  ChasePlan plan;
  plan.passes = 3;
  plan.offsets = descending_order(accessed_bytes, entry_bytes(cache.chase.path));
  if (cache.space_bytes > accessed_bytes) {
    ChasePlan pushed_out = plan;
    pushed_out.offsets.clear();
    const std::uint64_t step_bytes = std::max(smallest_line_bytes, access_bytes(cache.chase.path));
    // Twice in a row: some policies do not replace a line with hits by a line without hits.
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

namespace {

/// Two halves of a block; the other accessed places lie at multiples of a step.
struct Pair {
  std::uint64_t distance_bytes = 0;
  std::uint64_t step_bytes = 0;  // others lie at multiples of this

  std::uint64_t block_bytes() const { return 2 * distance_bytes; }
};

/// How often each place had left the cache, by whether the first place had.
struct PairCounts {
  double left = 0;  // the first place was missing
  double both_left = 0;
  double stayed = 0;
  double second_left = 0;  // although the first place had stayed

  double left_share() const { return left / std::max(1.0, left + stayed); }
};

/// One pair after `others` other places.
ChasePlan plan_pair(const CacheUnderTest& cache, const Pair& pair, std::uint64_t others,
                    Random& random) {
  const std::uint64_t block =
      random.below(cache.space_bytes / pair.block_bytes()) * pair.block_bytes();
  ChasePlan plan{.warmup_passes = 2};
  for (std::uint64_t offset : shuffled_order(cache.space_bytes, pair.step_bytes, random())) {
    if (plan.offsets.size() == others) break;
    if (offset / pair.block_bytes() * pair.block_bytes() == block) continue;
    plan.offsets.push_back(offset);
  }
  plan.skipped = plan.offsets.size();
  plan.offsets.push_back(block);
  plan.offsets.push_back(block + pair.distance_bytes);
  return plan;
}

void count_pair(const CacheUnderTest& cache, const Pair& pair, std::uint64_t others, Random& random,
                PairCounts& counts) {
  ChasePlan plan = plan_pair(cache, pair, others, random);
  plan.evidence = Evidence::of_a_search;
  const std::string label = fmt::format("pair 0 {} behind {}", pair.distance_bytes, others);
  const ChaseLatencies seen = measure_chase(cache, label, plan);
  const double inner_cycles = cache.inner ? cache.inner->threshold_cycles : 0;
  if (std::ranges::min(seen.cycles) <= inner_cycles) return;
  const bool second_left = seen.cycles[1] > cache.threshold_cycles;
  if (seen.cycles[0] > cache.threshold_cycles) {
    ++counts.left;
    counts.both_left += second_left;
  } else {
    ++counts.stayed;
    counts.second_left += second_left;
  }
}

/// A number of others that evicts the first place in some, but not all, tries; 0 if none does.
std::uint64_t find_others(const CacheUnderTest& cache, const Pair& pair, Random& random) {
  constexpr int tries = 12;
  constexpr double seldom = 0.25;
  std::uint64_t low = 0;
  std::uint64_t high = std::min((cache.space_bytes - pair.block_bytes()) / pair.step_bytes,
                                longest_list(cache.chase) - 2);  // 2 for the pair
  while (high - low > std::max<std::uint64_t>(1, low / 16)) {
    const std::uint64_t others = low + (high - low) / 2;
    PairCounts counts;
    for (int i = 0; i < tries; ++i) count_pair(cache, pair, others, random, counts);
    if (counts.left + counts.stayed == 0) return 0;
    const double left = counts.left_share();
    if (left >= seldom && left <= 1 - seldom) return others;
    (left < seldom ? low : high) = others;
  }
  return 0;
}

/// Accesses the two places of a random block after others that evict the first place about every
/// second time. Returns how much more often the second place misses if the first one does: 1 if the
/// block is one line, 0 if it is two. nullopt if no number of others does that.
/// @pre the cache has an address space of its own
std::optional<double> ask_pair(const CacheUnderTest& cache, const Pair& pair) {
  constexpr int most_draws = 128;
  constexpr double enough = 24;  // a share of this many varies by a tenth
  Random random(derive_seed(cache.seed, "pairs"));
  const std::uint64_t others = find_others(cache, pair, random);
  if (others == 0) return std::nullopt;
  PairCounts counts;
  for (int draw = 0; draw < most_draws && std::min(counts.left, counts.stayed) < enough; ++draw)
    count_pair(cache, pair, others, random, counts);
  if (std::min(counts.left, counts.stayed) < enough / 2) return std::nullopt;
  return counts.both_left / counts.left - counts.second_left / counts.stayed;
}

/// The largest block whose halves are one line; `unit_bytes` at least. nullopt if pairs cannot
/// tell.
std::optional<LineLength> measure_line_by_pairs(const CacheUnderTest& cache,
                                                std::uint64_t unit_bytes) {
  LineLength line{.bytes = unit_bytes, .contrast = 1};
  for (std::uint64_t bytes = unit_bytes; bytes < longest_line_bytes; bytes *= 2) {
    const auto depends = ask_pair(cache, {.distance_bytes = bytes, .step_bytes = unit_bytes});
    if (!depends) return std::nullopt;
    line.contrast = std::min({line.contrast, 1.0, std::abs(2 * *depends - 1)});
    if (*depends <= 0.5) break;
    line.bytes = 2 * bytes;
  }
  return line;
}

}  // namespace

LineLength measure_line(const CacheUnderTest& cache, std::uint64_t coarse_size_bytes,
                        std::uint64_t fetch_bytes) {
  const LineLength line = line_by_footprint(cache, coarse_size_bytes, fetch_bytes);
  const std::uint64_t lines = coarse_size_bytes / line.bytes;
  const bool is_clear = line.contrast >= clear_contrast && lines >= few_lines;
  if (is_clear || cache.space_bytes == 0) return line;
  const auto by_pairs = measure_line_by_pairs(cache, fetch_bytes);
  if (by_pairs && by_pairs->contrast > line.contrast) return *by_pairs;
  return line;
}

}  // namespace sonde
