// The line of a cache from conflicts: two addresses lie in one line if they take one way of a set
// that is full. Holds whatever the index function and the replacement, where chases
// that touch parts of lines tell nothing: sets that are few, of few ways, or unevenly filled.
// Method: docs/methods/tlb.md (step 5).
#pragma once

#include "analysis/structure/sets/conflict_set.hpp"
#include "analysis/structure/sets/miss_oracle.hpp"

#include <string>

namespace sonde {

struct LineByConflicts {
  std::uint64_t bytes = 0;
  double agreement = 0;  // 0..1: least share of the choices of a line that agree on one distance
};

/// The smallest distance at which another line begins: from `fetch_bytes` on, doubling, up to
/// `limit_bytes`, which is the answer if none is smaller. If what lies so far away seems to be of
/// the same line, too, something larger than lines conflicts (pages): then the agreement is low.
/// @param conflict its lines begin at multiples of `limit_bytes`
LineByConflicts find_line(const EvictionSet& conflict, std::uint64_t fetch_bytes,
                          std::uint64_t limit_bytes, const MissOracle& ask);

struct BusyLines {
  Lines lines;         // all of which miss, in every order; ascending
  Lines others;        // of their sets: they miss beside those; ascending
  std::string reason;  // no lines: why not
};

/// Lines of four sets or more, out of longer and longer parts of the pool, that miss again and
/// again when chased alone, in every one of some orders.
/// @param pool lines in random order
/// @param fitting_lines so many of them were seen to fit
BusyLines find_busy_lines(const Lines& pool, std::size_t fitting_lines, const MissOracle& ask);

}  // namespace sonde
