// One eviction set, and questions about pairs of its lines (analysis/structure/sets/line_search).
#include "jobs/cache/line_by_conflicts.hpp"

#include "base/gpu_facts.hpp"
#include "base/random.hpp"
#include "jobs/sets/cache_probe.hpp"

#include <algorithm>
#include <bit>

namespace sonde {
namespace {

// Spans that are tried: from one large page, which small pages and TLBs do not disturb, to one in
// which lines of 32 bytes at the longest distance overfill every set twice.
constexpr std::uint64_t least_spans_of_cache = 4;
constexpr std::uint64_t most_spans_of_cache = 64;
// Caches that need this overflow early; more lines may exceed their capacity, not that of a set.
constexpr std::size_t most_lines = 1024;

Lines lines_apart(std::uint64_t span_bytes, std::uint64_t distance_bytes, std::uint64_t seed) {
  Lines lines;
  for (std::uint64_t at = 0; at < span_bytes; at += distance_bytes) lines.push_back(at);
  Random random(seed);
  shuffle(lines, random);
  lines.resize(std::min(lines.size(), most_lines));
  return lines;
}

}  // namespace

std::optional<LineByConflicts> measure_line_by_conflicts(const CacheUnderTest& cache,
                                                         std::uint64_t coarse_size_bytes,
                                                         std::uint64_t fetch_bytes) {
  CacheProbe probe(cache, coarse_size_bytes, fetch_bytes);
  const MissOracle ask = ask_behind(probe, {});
  const std::uint64_t limit_bytes =
      std::min(std::max(large_page_bytes, most_spans_of_cache * coarse_size_bytes),
               cache.run.info().memory_bytes / 4);
  std::string reason;
  for (std::uint64_t span_bytes =
           std::max(large_page_bytes, std::bit_ceil(least_spans_of_cache * coarse_size_bytes));
       span_bytes <= limit_bytes; span_bytes *= 4) {
    const Lines pool =
        lines_apart(span_bytes, longest_line_bytes, derive_seed(cache.seed, "line by conflicts"));
    if (const auto conflict = find_eviction_set(pool, ask, reason)) {
      return find_line(*conflict, fetch_bytes, longest_line_bytes, ask);
    }
  }
  return std::nullopt;
}

}  // namespace sonde
