// The lines that a search for sets may use.
#pragma once

#include "analysis/structure/index/index_function.hpp"
#include "analysis/structure/sets/miss_oracle.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sonde {

/// Lists of lines are ascending.
struct LinePool {
  std::uint64_t line_bytes = 0;
  std::uint64_t span_bytes =
      0;  // all lines lie below this offset; a power of two lets most address bits vary
  std::uint64_t cached_lines = 0;  // approximate number of lines that the cache holds
  std::uint64_t seed = 0;
  Lines co_resident = {};  // accessed in every pass of each list; they occupy ways
  Lines excluded = {};  // no list may access these either: the inner caches keep them together with
                        // the co-resident lines
  /// Address of offset 0, for index functions with address bits above the alignment of the buffer.
  std::uint64_t buffer_address = 0;
};

/// True if no list may access the line.
bool is_taken(const LinePool& space, std::uint64_t line);

/// At most `count` lines of the span that a list may access, in a random order.
Lines choose_lines(const LinePool& space, std::uint64_t count, std::uint64_t seed);

/// The lines of `line_bytes` bytes in which the offsets lie; each once, ascending.
Lines lines_under(const Lines& offsets, std::uint64_t line_bytes);

/// At most `count` lines of set number `set`, in a random order.
Lines lines_of_set(const IndexFunction& index, const LinePool& space, std::uint64_t set,
                   std::size_t count);

/// At most `count` lines of every set, in an order that does not follow the sets. Looks at four
/// times as many lines as that.
std::vector<Lines> lines_by_set(const IndexFunction& index, const LinePool& space,
                                std::size_t count);

/// Up to 4096 lines of other sets. First the co-resident lines, which are known to evict lines from
/// the inner caches; then the lines below them, downwards. @pre there are co-resident lines
Lines lines_of_other_sets(const IndexFunction& index, const LinePool& space, std::uint64_t set);

/// Lines that fit into the cache together; no other line of the pool could be added.
struct PackedLines {
  Lines lines;
  Lines left_over;  // lines of the pool that do not fit
  bool complete =
      false;  // the last round over all left-over lines added none, and the packed lines fit
  std::size_t asked_chases = 0;
};

/// Chases `batch` lines of the pool at a time together with the lines kept so far. Lines of the
/// batch that miss repeatedly are put aside and tried again in other batches, until a round adds
/// none. Works if every line of an overfull set misses (LRU and similar policies in cyclic order).
/// If some lines of an overfull set hit by chance, too many lines are kept; the last check then
/// fails, and `complete` stays false.
/// @param pool lines in random order, several times as many as the cache holds
/// @param first_batch a size that surely overfills only few sets
/// @param batch about the number of sets. Larger batches often have several lines for the last free
/// way of a set, and then none of these is kept.
/// @param most_chases limits the time; beyond it `complete` is false
PackedLines pack_lines(const Lines& pool, std::size_t first_batch, std::size_t batch,
                       const MissOracle& ask, std::size_t most_chases);

}  // namespace sonde
