// Lists of offsets for chases: which addresses a chase accesses, in which order. Pure; what a list
// shows follows from how it was built, so every builder says what its order is good for.
#pragma once

#include <cstdint>
#include <vector>

namespace sonde {

using Offsets = std::vector<std::uint64_t>;

/// 0, step, 2 step, ... below `span_bytes`.
Offsets ascending_order(std::uint64_t span_bytes, std::uint64_t step_bytes);

/// The same, from the top down: a stream prefetcher that runs ahead finds nothing to do.
Offsets descending_order(std::uint64_t span_bytes, std::uint64_t step_bytes);

/// The same offsets in a random order from the seed: no prefetcher follows.
Offsets shuffled_order(std::uint64_t span_bytes, std::uint64_t step_bytes, std::uint64_t seed);

/// One unit out of each block: its first unit or the first one of its upper half, at random
/// from the seed so that no index function makes the choices meet in few sets. Shuffled.
/// @pre block_bytes is at least 2 unit_bytes, both powers of two
Offsets sparse_order(std::uint64_t span_bytes, std::uint64_t block_bytes, std::uint64_t unit_bytes,
                     std::uint64_t seed);

/// The same offsets page by page (the smallest page of any GPU), so that all but the first of a
/// page have their translation at hand, in rounds over all pages: no two of a round lie within 512
/// bytes, so that what one fetch brings along is asked for a round later. Pages, and the offsets of
/// each, in the order in which they came.
Offsets page_by_page(Offsets offsets);

/// A span in pairs of lines, in random order, both of a pair in one page (half of the smallest of
/// any GPU, should one be smaller): the first brings the translation of the second, a quarter of
/// that page away. Each line is accessed once, as the first or the second of its pair at random.
/// @pre the span has such pages, and they have two lines at least
Offsets translated_pairs(std::uint64_t span_bytes, std::uint64_t line_bytes, std::uint64_t seed);

/// Up over `fill_bytes`, then a return pass down over its last `return_bytes`, each line once:
/// under LRU and FIFO the return pass meets exactly the resident lines before the first it evicts.
Offsets fill_and_return(std::uint64_t fill_bytes, std::uint64_t return_bytes,
                        std::uint64_t step_bytes);

/// Where in page `page` its one line lies, so that lines of different pages do not meet in a set.
struct PageSpread {
  std::uint64_t page_step_bytes = 0;
  std::uint64_t line_step_bytes = 0;  // the smallest line of any GPU uses every set
  std::uint64_t spread_bytes = 0;     // lines stay this close to the start of the page
};

/// @param shift takes other lines of the same pages, as many as lie in the spread
std::uint64_t page_line(const PageSpread& spread, std::uint64_t page, std::uint64_t shift = 0);

/// Lines of pages first .. first + count - 1, each accessed twice in a row: the second access is
/// the same load with its translation at hand, so the difference is what the translation cost.
Offsets page_pairs(const PageSpread& spread, std::uint64_t first, std::uint64_t count,
                   std::uint64_t shift = 0);

/// How pairs of accesses become pairs of different lines that nobody accessed before.
struct NewLines {
  std::uint64_t part_bytes = 0;  // a power of two: both lines of a pair lie within so much
  std::uint64_t settling = 0;    // passes before the timed ones, at most most_passes_to_settle
  std::uint64_t timed = 1;       // passes, at most as many as new_line_passes
  bool from_below = false;       // the line in the lower half of its part first, not last
};

/// So many timed passes find new lines in each part: no fetch brings one of another pass along.
std::uint64_t new_line_passes(std::uint64_t part_bytes);

/// So many passes in front of them find words in the lines that are left: one word for each access
/// (see layout::plan_chains).
inline constexpr std::uint64_t most_passes_to_settle = 64;

/// Passes over a list of pairs (neighbours that are equal), one after the other: the two accesses
/// of a pair go to lines in both halves of its part, and those of a timed pass are accessed in no
/// other. Passes run from the upper lines of a part to the lower ones, so that no prefetcher gets
/// ahead of them. Accesses that are no pairs stay where they are.
/// @throws Error for more passes than there are
Offsets passes_over_new_lines(const Offsets& offsets, const NewLines& lines);

/// Fresh translations one after the other: first pages, each anywhere in its step, that push all
/// others out of a TLB level,
/// then targets in small steps, each accessed twice in a row, and before each of them pages that
/// push it out of the inner levels only, each time by other lines of them. `targets` are the
/// places of the first accesses.
struct EntryChase {
  Offsets offsets;
  std::vector<std::size_t> targets;
};

struct EntryChaseRequest {
  std::uint64_t target_step_bytes = 0;
  std::uint64_t target_count = 0;
  PageSpread evictors;  // behind the targets, up to
  std::uint64_t evictors_end_bytes = 0;
  PageSpread inner_evictors;  // among the last of the evictors; count 0: none
  std::uint64_t inner_evictor_count = 0;
  std::uint64_t shift = 0;  // other lines of the same pages
};
EntryChase entry_chase(const EntryChaseRequest& request);

}  // namespace sonde
