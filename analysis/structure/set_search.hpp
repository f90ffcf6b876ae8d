// The sets of a cache: how many, how wide, and which address bits choose them, from conflicts
// between lines alone. What classical stride walks cannot see (hashed indexes, sets that are no
// power of two, sets of different width) comes out of the same three questions.
// Method: docs/methods/conflict-sets.md.
#pragma once

#include "analysis/structure/class_fit.hpp"

namespace sonde {

/// The same cache with other lines beside the lists: shows which sets those of a LineSpace lie in,
/// where no function tells.
struct OtherBeside {
  Lines beside;  // none of the LineSpace's; ascending, as those hidden
  Lines hidden;
  MissOracle ask;
};

struct SeenSet {
  std::uint32_t ways = 0;
  std::uint64_t members = 0;
};

struct SetStructure {
  std::optional<ConflictSet> conflict;  // the evidence: the smallest set of lines that overflows
  Lines members;                        // lines of that set, the conflict's first
  IndexFunction index;
  std::uint32_t home_ways = 0;              // of that set, lines beside the lists included
  std::vector<std::uint32_t> ways_per_set;  // descending; empty: not resolved
  std::vector<SeenSet> seen_sets;           // a dozen, where nothing tells where very many others
                                            // are; each among `seen_lines`
  std::uint64_t seen_lines = 0;
  std::uint64_t checked_sets = 0;  // in walks that no inference had seen
  double agreement = 0;            // share of them that overflowed as predicted
  std::string reason;              // why something is missing

  bool resolved() const { return !ways_per_set.empty(); }
  std::uint64_t lines() const;  // sum of all ways
};

/// Finds a set, its other lines, the function that explains them, and the width of every set;
/// checks the result on walks of its own. Where no function explains the lines, sets are looked for
/// one by one, as long as they are few; if lines are visited beside the lists, only with others to
/// be visited in their place.
SetStructure find_sets(const LineSpace& space, const MissOracle& ask,
                       const std::optional<OtherBeside>& other = {});

/// At most `count` lines of set number `set`, in the order of a draw from the seed.
Lines lines_of_set(const IndexFunction& index, const LineSpace& space, std::uint64_t set,
                   std::size_t count);

}  // namespace sonde
