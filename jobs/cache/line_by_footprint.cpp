// Sparse chases with one unit in blocks of growing size: the share of misses tells whether a block
// is one line. Where they leave it open jobs/cache/geometry asks jobs/cache/line_by_conflicts.
#include "jobs/cache/line_by_footprint.hpp"

#include "base/gpu_facts.hpp"
#include "jobs/cache/capacity.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace sonde {
namespace {

// A span of 1.4 times the size: one line for each block thrashes, half as many leave space in every
// set even if they fall unevenly.
constexpr double sparse_span = 1.4;
constexpr double one_line_miss_fraction = 0.25;
// In six random orders of so few blocks the share of misses varies by a quarter of that limit.
constexpr std::uint64_t few_blocks = 128;

/// Small caches have few sets: one order may fall badly.
std::uint64_t orders_for(std::uint64_t blocks) {
  if (blocks < few_blocks) return 24;
  return blocks < coarse_samples ? 6 : 1;
}

}  // namespace

LineByFootprint measure_line_by_footprint(const CacheUnderTest& cache,
                                          std::uint64_t coarse_size_bytes,
                                          std::uint64_t fetch_bytes) {
  LineByFootprint line{.bytes = fetch_bytes, .contrast = 1};
  for (std::uint64_t block = 2 * fetch_bytes; block <= longest_line_bytes; block *= 2) {
    const std::uint64_t span_bytes =
        std::min(scale_span(coarse_size_bytes, sparse_span, block), cache.end_bytes());
    const std::uint64_t orders = orders_for(span_bytes / block);
    double sum = 0;
    for (std::uint64_t order = 0; order < orders; ++order) {
      const ChasePlan plan{
          .offsets = sparse_order(span_bytes, block, fetch_bytes, cache.seed + order),
          .warmup_passes = 2};
      sum += measure_miss_fraction(cache, fmt::format("line {}", block), plan);
    }
    const double missing = sum / static_cast<double>(orders);
    line.contrast = std::min(line.contrast,
                             std::abs(missing - one_line_miss_fraction) / one_line_miss_fraction);
    if (missing < one_line_miss_fraction) break;
    line.bytes = block;
  }
  return line;
}

}  // namespace sonde
