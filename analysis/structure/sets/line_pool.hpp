// Where a search for sets finds its lines.
#pragma once

#include "analysis/structure/index/index_function.hpp"
#include "analysis/structure/sets/miss_oracle.hpp"

#include <cstddef>
#include <cstdint>

namespace sonde {

/// The lines that a search may use. Lists of lines are ascending.
struct LinePool {
  std::uint64_t line_bytes = 0;
  std::uint64_t span_bytes = 0;    // lines lie below this; a power of two shows most address bits
  std::uint64_t cached_lines = 0;  // what the cache holds, roughly
  std::uint64_t seed = 0;
  Lines co_resident = {};  // accessed in every pass of each list: they take ways of their own
  Lines excluded = {};  // others that no list may access: inner caches keep them along with these
  /// Where no function tells which sets lines lie in, sets are looked for one by one as long as
  /// there are no more than these.
  std::size_t most_single_sets = 64;
  /// Of offset 0, where sets are chosen by more of the address than a buffer is aligned to.
  std::uint64_t buffer_address = 0;
};

/// Whether no list may access the line.
bool is_taken(const LinePool& space, std::uint64_t line);

/// At most `count` lines of the span in a random order, all of which a list may access.
Lines choose_lines(const LinePool& space, std::uint64_t count, std::uint64_t seed);

/// The lines of this length that offsets lie in, each once, ascending.
Lines lines_under(const Lines& offsets, std::uint64_t line_bytes);

/// At most `count` lines of set number `set`, in a random order.
Lines lines_of_set(const IndexFunction& index, const LinePool& space, std::uint64_t set,
                   std::size_t count);

/// Up to 4096 lines of other sets: the co-resident ones first, which are known to push lines out of
/// the inner caches, then those before them, downwards. @pre there are co-resident lines
Lines lines_of_other_sets(const IndexFunction& index, const LinePool& space, std::uint64_t set);

/// Lines that stay together, to which no line of the pool could be added.
struct PackedLines {
  Lines lines;
  Lines left_over;        // lines of the pool that found no room
  bool complete = false;  // in a last round over all that were left over none found room, and
                          // those packed stay
  std::size_t asked_chases = 0;  // what it took
};

/// Packs the lines of the pool, in its order: `batch` lines at a time are chased with those kept so
/// far, and the ones of the batch that miss again and again are put aside, to be tried again in
/// other company, until a round over all of them adds none. Works where a set with too many lines
/// makes each of them miss (LRU and its kin, in cyclic order). Where lines of an overfull set stay
/// by chance, more may be packed than there is room for; that shows, and `complete` stays false.
/// @param pool lines in random order, some times what the cache holds
/// @param first_batch as many as surely overfill few sets
/// @param batch about as many as there are sets: of lines that would share the last free way of a
///        set none is kept, and with one line for each set, one often comes alone
/// @param most_chases a bound on the time; when it is met, `complete` is false
PackedLines pack_lines(const Lines& pool, std::size_t first_batch, std::size_t batch,
                       const MissOracle& ask, std::size_t most_chases);

}  // namespace sonde
