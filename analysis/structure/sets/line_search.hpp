// Finds the line size from conflicts: two addresses lie in one line if they occupy one way of a
// full set. Works for any index function and any replacement, also where chases with small strides
// fail: few sets, few ways, or sets that are filled unevenly. Method: docs/methods/tlb.md (step 5).
#pragma once

#include "analysis/structure/sets/conflict_set.hpp"
#include "analysis/structure/sets/miss_oracle.hpp"

namespace sonde {

struct LineByConflicts {
  std::uint64_t bytes = 0;
  double agreement = 0;  // 0..1: of the moved lines, the fraction that agrees on the answer; the
                         // least over all distances
};

/// The smallest distance at which another line begins. Tries `fetch_bytes`, then doubles it up to
/// `limit_bytes`, which is the answer if no smaller distance is found.
/// @param conflict its lines begin at multiples of `limit_bytes`
LineByConflicts find_line(const EvictionSet& conflict, std::uint64_t fetch_bytes,
                          std::uint64_t limit_bytes, const MissOracle& ask);

struct BusyLines {
  Lines lines = {};   // all of them miss, in every order; ascending; empty: none were found
  Lines others = {};  // other lines of the same sets: they miss together with `lines`; ascending
};

/// Looks in longer and longer prefixes of the pool for lines of at least four sets that miss
/// repeatedly when chased alone, in every one of eight orders.
/// @param pool lines in random order
/// @param fitting_lines lines of the pool that are known to fit
BusyLines find_busy_lines(const Lines& pool, std::size_t fitting_lines, const MissOracle& ask);

}  // namespace sonde
