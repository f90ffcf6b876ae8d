// Blocks of code that are entered at their last parts alone: how many of them stay, and which parts
// leave together. jobs/cache/geometry makes the line of it.
#include "jobs/cache/code_line.hpp"

#include "device/probe/code_blocks.hpp"
#include "jobs/cache/capacity.hpp"
#include "jobs/cache/fetch_and_line.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace sonde {
namespace {

/// Blocks of a span, entered so far before their end.
Offsets enter_blocks(std::uint64_t span_bytes, std::uint64_t part_bytes, std::uint64_t seed) {
  Offsets offsets = shuffled_order(span_bytes, code_block_bytes, seed);
  for (std::uint64_t& offset : offsets) offset += code_block_bytes - part_bytes;
  return offsets;
}

/// Whether so many times as many blocks stay as the cache holds whole ones, if they are entered at
/// their last part; nullopt where the code is too short to ask.
std::optional<SparseBlocks> chase_last_parts(const CacheUnderTest& cache,
                                             std::uint64_t coarse_size_bytes,
                                             std::uint64_t multiple, std::uint64_t part_bytes) {
  const std::uint64_t span_bytes = scale_span(
      coarse_size_bytes, sparse_span * static_cast<double>(multiple) / 2, code_block_bytes);
  if (span_bytes > cache.end_bytes()) return std::nullopt;
  return chase_sparse_blocks(cache, fmt::format("last {} of blocks x {}", part_bytes, multiple),
                             span_bytes / code_block_bytes, [&](std::uint64_t seed) {
                               return enter_blocks(span_bytes, part_bytes, seed);
                             });
}

/// Some blocks are entered at a later place and then at an earlier one, others at the later only.
struct BlockChase {
  ChasePlan plan;
  std::size_t later = 0;   // position of the first block's access at the later place, ...
  std::size_t blocks = 0;  // ... and as many behind it; then the same at the earlier one
};

/// nullopt where the code is too short.
std::optional<BlockChase> plan_entries(const CacheUnderTest& cache, std::uint64_t held_bytes,
                                       std::uint64_t part_bytes) {
  constexpr double entered_twice = 0.4;  // of the cache: stay if their parts are lines
  constexpr double others = 0.75;        // with those: overfill it
  const std::uint64_t twice_bytes = scale_span(held_bytes, entered_twice, code_block_bytes);
  const std::uint64_t other_bytes = scale_span(held_bytes, others, code_block_bytes);
  if (twice_bytes + other_bytes > cache.end_bytes()) return std::nullopt;
  BlockChase chase{.plan = {.warmup_passes = 2, .passes = 4}};
  Offsets& offsets = chase.plan.offsets;
  for (std::uint64_t offset : enter_blocks(other_bytes, part_bytes, cache.seed + 1))
    offsets.push_back(twice_bytes + offset);
  chase.later = offsets.size();
  for (std::uint64_t bytes : {part_bytes, 2 * part_bytes}) {
    const Offsets entered = enter_blocks(twice_bytes, bytes, cache.seed);
    chase.blocks = entered.size();
    offsets.insert(offsets.end(), entered.begin(), entered.end());
  }
  return chase;
}

/// Of the blocks that missed at the later place, so that a line had left: the share that then
/// misses at the earlier one, too. nullopt with too few of them.
std::optional<double> share_gone_together(const CacheUnderTest& cache, std::uint64_t held_bytes,
                                          std::uint64_t part_bytes) {
  constexpr std::size_t fewest = 16;
  const auto chase = plan_entries(cache, held_bytes, part_bytes);
  if (!chase) return std::nullopt;
  const ChaseLatencies seen =
      measure_chase(cache, fmt::format("parts of {} of a block", part_bytes), chase->plan);
  const double inner_cycles = cache.inner ? cache.inner->threshold_cycles : 0;
  std::size_t missed = 0;
  std::size_t gone = 0;
  for (std::size_t pass = 0; pass < seen.passes(); ++pass) {
    const double* later = &seen.cycles[pass * seen.positions + chase->later];
    const double* earlier = later + chase->blocks;
    for (std::size_t block = 0; block < chase->blocks; ++block) {
      if (later[block] <= cache.threshold_cycles || earlier[block] <= inner_cycles) continue;
      ++missed;
      gone += earlier[block] > cache.threshold_cycles;
    }
  }
  if (missed < fewest) return std::nullopt;
  return static_cast<double>(gone) / static_cast<double>(missed);
}

/// Last parts of a block, and how many times as many blocks stay as the cache holds whole ones.
struct LastParts {
  std::uint64_t bytes = 0;
  std::uint64_t multiple = 1;
  bool is_doubled = false;  // of the multiple of parts twice as long
  double contrast = 1;
};

/// From one fetch to half a block.
std::vector<LastParts> count_last_parts(const CacheUnderTest& cache,
                                        std::uint64_t coarse_size_bytes,
                                        std::uint64_t fetch_bytes) {
  std::vector<LastParts> parts;
  std::uint64_t multiple = 1;
  for (std::uint64_t bytes = code_block_bytes / 2; bytes >= fetch_bytes; bytes /= 2) {
    const auto doubled = chase_last_parts(cache, coarse_size_bytes, 2 * multiple, bytes);
    const bool is_doubled = doubled && doubled->stay;
    if (is_doubled) multiple *= 2;
    parts.push_back({bytes, multiple, is_doubled, doubled ? doubled->contrast : 1});
  }
  std::ranges::reverse(parts);
  return parts;
}

/// By what stays of how many, and by what leaves together.
std::optional<LineWithinBlock> line_by_parts(const CacheUnderTest& cache,
                                             std::uint64_t coarse_size_bytes,
                                             const std::vector<LastParts>& all_parts) {
  LineWithinBlock line{.bytes = all_parts.front().bytes, .contrast = 1};
  for (const LastParts& parts : all_parts) {
    line.contrast = std::min(line.contrast, parts.contrast);
    if (parts.is_doubled) break;
    const auto gone = share_gone_together(cache, parts.multiple * coarse_size_bytes, parts.bytes);
    if (!gone) return std::nullopt;
    line.contrast = std::min(line.contrast, std::abs(2 * *gone - 1));
    if (*gone < 0.5) break;
    line.bytes = 2 * parts.bytes;
  }
  return line;
}

/// By pairs of places at which blocks are entered; the others are entered at the later one, too, so
/// that what lies before it leaves with it or by chance.
std::optional<LineWithinBlock> line_by_entries(const CacheUnderTest& cache,
                                               const std::vector<LastParts>& all_parts) {
  LineWithinBlock line{.bytes = all_parts.front().bytes, .contrast = 1};
  for (const LastParts& parts : all_parts) {
    const std::uint64_t later = code_block_bytes - parts.bytes;
    const auto answer = ask_pair(cache, {.block_bytes = code_block_bytes,
                                         .first_bytes = later,
                                         .second_bytes = later - parts.bytes,
                                         .others_step_bytes = code_block_bytes,
                                         .others_at_bytes = later});
    if (!answer) return std::nullopt;
    line.contrast = std::min(line.contrast, answer->contrast);
    if (!answer->one_line) break;
    line.bytes = 2 * parts.bytes;
  }
  return line;
}

}  // namespace

std::optional<LineWithinBlock> measure_line_within_block(const CacheUnderTest& cache,
                                                         std::uint64_t coarse_size_bytes,
                                                         std::uint64_t fetch_bytes) {
  constexpr double clear_contrast = 0.5;
  const auto all_parts = count_last_parts(cache, coarse_size_bytes, fetch_bytes);
  if (all_parts.empty()) return std::nullopt;  // a fetch of more than half a block
  const auto by_parts = line_by_parts(cache, coarse_size_bytes, all_parts);
  if (by_parts && by_parts->contrast >= clear_contrast) return by_parts;
  const auto by_entries = line_by_entries(cache, all_parts);
  return by_entries ? by_entries : by_parts;
}

}  // namespace sonde
