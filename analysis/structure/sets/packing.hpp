// How many lines a cache holds at once, whatever its index function: lines are added as long as all
// of them stay. Where nobody knows which lines share a set, this counts the room of all sets.
// Method: docs/methods/slices.md.
#pragma once

#include "analysis/structure/sets/miss_oracle.hpp"

#include <cstdint>

namespace sonde {

/// Lines that stay together, to which no line of the pool could be added.
struct PackedLines {
  Lines lines;
  std::size_t left_over = 0;  // lines of the pool that found no room
  bool complete = false;      // in a last round over all that were left over none found room, and
                              // those packed stay
  std::size_t asked_chases = 0;  // what it took
};

/// Packs the lines of the pool, in its order: `batch` lines at a time are chased with those kept so
/// far, and the ones of the batch that miss again and again are put aside, to be tried again in
/// other company, until a round over all of them adds none. Works where a set with too many lines
/// makes each of them miss (LRU and its kin, in cyclic order). Where lines of an overfull set stay
/// by chance, more may be packed than there is room for; that shows, and `complete` stays false.
/// @param pool lines in random order, some times what the cache holds
/// @param batch about as many as there are sets: of lines that would share the last free way of a
///        set none is kept, and with one line for each set, one often comes alone
/// @param most_chases a bound on the time; when it is met, `complete` is false
PackedLines pack_lines(const Lines& pool, std::size_t batch, const MissOracle& ask,
                       std::size_t most_chases);

}  // namespace sonde
