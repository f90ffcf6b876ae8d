// The sets of a cache: how many there are, their associativity, and which address bits choose them,
// from conflicts between lines alone. What classical stride chases cannot see (hashed indexes, sets
// that are no power of two, sets of unequal associativity) comes out of the same three questions.
// Method: docs/methods/conflict-sets.md.
#pragma once

#include "analysis/structure/index/index_function.hpp"
#include "analysis/structure/predict/predictions.hpp"
#include "analysis/structure/sets/conflict_set.hpp"
#include "analysis/structure/sets/line_pool.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace sonde {

/// The same cache with other lines co-resident: shows which sets those of a LinePool lie in, where
/// no function tells.
struct OtherCoResidents {
  Lines co_resident;  // none of the LinePool's; ascending, as those excluded
  Lines excluded;
  MissOracle ask;
};

struct SetLayout {
  std::optional<EvictionSet> conflict =
      {};              // the evidence: the smallest set of lines that overflows
  Lines members = {};  // lines of that set, the conflict's first
  IndexFunction index = {};
  std::uint32_t home_ways = 0;                   // of that set, co-resident lines included
  std::vector<std::uint32_t> ways_per_set = {};  // descending; empty: not resolved
  std::uint32_t smaller_sets = 0;                // of those: seen with a way less, see even_out
  std::uint32_t short_sets = 0;                  // of those: memory has no line too many of them
  // Of a dozen sets, where nothing tells where very many others are.
  std::vector<std::uint32_t> seen_ways = {};
  Predictions checked =
      {};  // sets in chases that no inference had seen, that overflowed as they should
  std::string reason = {};  // why something is missing

  bool resolved() const { return !ways_per_set.empty(); }
  /// In the ways of the sets, 0 to 1.
  double confidence() const {
    constexpr double taken_from_others = 0.9;
    const double sure = checked.confidence();
    return smaller_sets + short_sets > 0 ? std::min(sure, taken_from_others) : sure;
  }
  std::uint64_t lines() const;  // sum of all ways
};

/// Finds a set, its other lines, the function that explains them, and the ways of every set; checks
/// the result on chases of its own. Where no function explains the lines, sets are looked for one
/// by one, as long as they are few; if lines are co-resident, only with others to be accessed in
/// their place.
SetLayout find_set_layout(const LinePool& space, const MissOracle& ask,
                          const std::optional<OtherCoResidents>& other = {});

/// One or two sets of very many (64 or more) that keep a way less than all others are taken to be
/// like them, and counted in `smaller_sets`: docs/decisions/0024-a-way-less.md. For TLBs.
void even_out(SetLayout& layout);

}  // namespace sonde
