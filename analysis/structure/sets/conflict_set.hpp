// Which lines share a set, whatever the index function and whatever the replacement: a set with one
// line too many misses in every pass of a cyclic chase, one without does not. The sets found here
// are where the search for the layout of all sets begins. Method: docs/methods/conflict-sets.md.
#pragma once

#include "analysis/structure/sets/miss_oracle.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace sonde {

/// A minimal eviction set: lines of one set, one more than it has ways. Together they overflow it,
/// and without any one of them they do not.
struct EvictionSet {
  Lines lines;
  std::size_t fitting_lines = 0;  // of the pool, before the line that made it overflow

  std::size_t ways() const { return lines.size() - 1; }
};

/// The first set that a growing pool overfills, reduced to its smallest overflowing part.
/// nullopt with the reason in `reason` if the pool fits, or if no part of it overflows reliably.
std::optional<EvictionSet> find_eviction_set(const Lines& pool, const MissOracle& ask,
                                             std::string& reason);

/// The same in up to three orders of the pool: an outlier in one of very many chases may have ended
/// the search. Not where what overflows does so in one order of accesses alone.
std::optional<EvictionSet> find_eviction_set_in_any_order(Lines pool, const MissOracle& ask,
                                                          std::string& reason);

/// Those of the candidates that share the set of the conflict: they miss when chased together with
/// as many of its lines as it has ways. Asked in groups of at most half of what the pool could
/// hold.
std::vector<bool> find_members(const EvictionSet& conflict, const Lines& candidates,
                               const MissOracle& ask);

/// Adds each line to the members of the conflict's set, or to the others.
void sort_by_set(const EvictionSet& conflict, const Lines& lines, const MissOracle& ask,
                 Lines& members, Lines& others);

/// Where candidates are too few for all members that are wanted, those of them that did not show
/// count: under random replacement every other one does. The others are asked again in other
/// company, as long as that shows some.
void find_overlooked(const EvictionSet& conflict, const MissOracle& ask, Lines& members,
                     Lines& others);

/// The conflict's lines, and behind them those members that are none of them.
Lines with_conflict_first(const EvictionSet& conflict, const Lines& members);

}  // namespace sonde
