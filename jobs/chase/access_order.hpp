// Builds lists of offsets for chases: which addresses a chase accesses, in which order. Pure. Each
// builder says what its order is good for.
#pragma once

#include <cstdint>
#include <vector>

namespace sonde {

using Offsets = std::vector<std::uint64_t>;

/// 0, step, 2 step, ... below `span_bytes`.
Offsets ascending_order(std::uint64_t span_bytes, std::uint64_t step_bytes);

/// The same offsets, from the top down, so that an ascending stream prefetcher cannot help.
Offsets descending_order(std::uint64_t span_bytes, std::uint64_t step_bytes);

/// The same offsets in a random order from the seed, which no prefetcher can follow.
Offsets shuffled_order(std::uint64_t span_bytes, std::uint64_t step_bytes, std::uint64_t seed);

/// One unit of each block, in random order: the first unit of its lower or its upper half, at
/// random from the seed, so that the units use all sets under any index function.
/// @pre block_bytes is at least 2 unit_bytes, both powers of two
Offsets sparse_order(std::uint64_t span_bytes, std::uint64_t block_bytes, std::uint64_t unit_bytes,
                     std::uint64_t seed);

/// The same offsets in rounds. The offsets of a round are equal modulo 512 bytes, so that a line
/// which is fetched along with another one is accessed a round later. A round goes page by page (of
/// the smallest page size of any GPU): only the first access to a page needs its translation. Pages
/// keep the order of their first offsets.
Offsets page_by_page(Offsets offsets);

/// Covers a span by pairs of lines in random order. Both lines of a pair lie in one page (taken as
/// half the smallest known page), half of it apart: the first brings the translation of the second.
/// Each line is accessed once; which line of a pair is first is random.
/// @pre the span holds at least one such page, and a page at least two lines
Offsets translated_pairs(std::uint64_t span_bytes, std::uint64_t line_bytes, std::uint64_t seed);

/// Ascends over `fill_bytes`, then descends over its last `return_bytes` (return pass). Under LRU
/// and FIFO the return pass hits exactly the resident lines until its first miss evicts a line.
Offsets fill_and_return(std::uint64_t fill_bytes, std::uint64_t return_bytes,
                        std::uint64_t step_bytes);

/// Where the one accessed line of each page lies. Lines of different pages use different sets.
struct PageSpread {
  std::uint64_t page_step_bytes = 0;
  std::uint64_t line_step_bytes = 0;  // the smallest line of any GPU, so that every set is used
  std::uint64_t spread_bytes = 0;     // the lines lie this close to the start of their page
};

/// @param shift chooses another line of the same page
std::uint64_t page_line(const PageSpread& spread, std::uint64_t page, std::uint64_t shift = 0);

/// Lines of the pages first .. first + count - 1, each accessed twice in a row. The second access
/// needs no new translation: the difference of the two latencies is its cost.
Offsets page_pairs(const PageSpread& spread, std::uint64_t first, std::uint64_t count,
                   std::uint64_t shift = 0);

/// How pairs of equal accesses become pairs of different lines that were never accessed before.
struct NewLines {
  std::uint64_t part_bytes = 0;  // a power of two; the two lines of a pair lie in one part
  std::uint64_t settling = 0;    // passes before the timed passes, at most most_passes_to_settle
  std::uint64_t timed = 1;       // timed passes, at most new_line_passes
  bool from_below = false;       // the first line of a pair lies in the lower half of its part
};

/// Number of timed passes that find new lines in each part, also if one fetch brings 512 bytes.
std::uint64_t new_line_passes(std::uint64_t part_bytes);

/// Most settling passes: each needs a word of the remaining line, for the next address of the chain
/// (see layout::plan_chains).
inline constexpr std::uint64_t most_passes_to_settle = 64;

/// Repeats passes over a list with pairs (equal neighbours). The two accesses of a pair go to both
/// halves of its part. A timed pass accesses lines that no other pass accesses. Later passes use
/// lower lines, so that no ascending prefetcher brings them. Accesses outside pairs stay unchanged.
/// @throws Error if there are not enough lines for the passes
Offsets passes_over_new_lines(const Offsets& offsets, const NewLines& lines);

/// A chase for fresh translations: first pages, each at a pseudo-random place, that evict all other
/// pages from a TLB level; then targets in small steps, each accessed twice in a row. Before each
/// target come pages that evict it from the inner levels only, with other lines each time.
/// `targets` are the positions of the first access to each target.
struct EntryChase {
  Offsets offsets;
  std::vector<std::size_t> targets;
};

struct EntryChaseRequest {
  std::uint64_t target_step_bytes = 0;
  std::uint64_t target_count = 0;
  PageSpread evictors;  // pages between the targets and evictors_end_bytes
  std::uint64_t evictors_end_bytes = 0;
  PageSpread inner_evictors;  // the last pages before evictors_end_bytes; unused if the count is 0
  std::uint64_t inner_evictor_count = 0;
  std::uint64_t shift = 0;  // chooses other lines of the same pages
};
/// @throws Error if the pages for eviction do not reach beyond the targets
EntryChase entry_chase(const EntryChaseRequest& request);

}  // namespace sonde
