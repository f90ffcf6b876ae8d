// Finds lines that share a set, for any index function and any replacement: a set with one line too
// many misses in every pass of a cyclic chase, any other set does not. The search for the layout of
// all sets begins with the set found here. Method: docs/methods/conflict-sets.md.
#pragma once

#include "analysis/structure/sets/miss_oracle.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace sonde {

/// A minimal eviction set: one line more than the set has ways. All lines together overflow the
/// set; without any one of them the others fit.
struct EvictionSet {
  Lines lines;
  std::size_t fitting_lines = 0;  // lines of the pool that fit before the line that overflowed

  std::size_t ways() const { return lines.size() - 1; }
};

/// Accesses more and more lines of the pool until some set overflows, and reduces these lines to
/// the smallest part that overflows. nullopt with `reason` if the pool fits, or if no part surely
/// overflows. Tries up to three orders of the pool, because one outlier in a long series of chases
/// may have ended the search; gives up if the lines overflow in the first order alone.
std::optional<EvictionSet> find_eviction_set(Lines pool, const MissOracle& ask,
                                             std::string& reason);

/// For each candidate, whether it shares the set of the conflict: it misses together with as many
/// lines of that set as the set has ways. Asks in groups of at most half the lines that fit.
std::vector<bool> find_members(const EvictionSet& conflict, const Lines& candidates,
                               const MissOracle& ask);

/// Adds each line to the members of the conflict's set, or to the others.
void sort_by_set(const EvictionSet& conflict, const Lines& lines, const MissOracle& ask,
                 Lines& members, Lines& others);

/// Asks again about the lines in `others`, in new groups, and moves lines of the set to `members`,
/// until a round finds few. Under random replacement one search finds about half of the members.
void find_overlooked(const EvictionSet& conflict, const MissOracle& ask, Lines& members,
                     Lines& others);

/// The conflict's lines, followed by the other members.
Lines with_conflict_first(const EvictionSet& conflict, const Lines& members);

}  // namespace sonde
