// The sets of a cache: their number, their associativity, and the address bits that choose them;
// all from conflicts between lines. Also finds what stride chases cannot: hashed indexes, a number
// of sets that is no power of two, sets of unequal associativity. Method:
// docs/methods/conflict-sets.md.
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

/// The same cache with other co-resident lines. Without an index function this shows in which sets
/// the co-resident lines of a LinePool lie.
struct OtherCoResidents {
  Lines co_resident;  // none of the LinePool's; ascending, as is `excluded`
  Lines excluded;
  MissOracle ask;
};

struct SetLayout {
  std::optional<EvictionSet> conflict = {};  // the smallest set of lines that overflows
  Lines members = {};  // lines of the conflict's set, the conflict's lines first
  IndexFunction index = {};
  std::uint32_t home_ways = 0;                   // ways of that set, co-resident lines included
  std::vector<std::uint32_t> ways_per_set = {};  // descending; empty: not resolved
  std::uint32_t smaller_sets = 0;  // sets that seemed to have one way less, see even_out
  std::uint32_t short_sets = 0;    // sets of which memory has too few lines to overfill them
  Predictions checked =
      {};  // sets of chases that the search has not used, which overflowed as predicted
  std::string reason = {};  // why something is missing

  bool resolved() const { return !ways_per_set.empty(); }
  /// Confidence in the ways of the sets, 0..1.
  double confidence() const {
    constexpr double taken_from_others = 0.9;
    const double sure = checked.confidence();
    return smaller_sets + short_sets > 0 ? std::min(sure, taken_from_others) : sure;
  }
  std::uint64_t lines() const;  // sum of all ways
};

/// Finds a set and its other lines, a function that explains them, and the ways of every set; then
/// checks the result with new chases. If no function explains the lines, looks for set after set,
/// as long as they are few. With co-resident lines that needs `other`.
SetLayout find_set_layout(const LinePool& space, const MissOracle& ask,
                          const std::optional<OtherCoResidents>& other = {});

/// Of 64 or more sets, at most two that have one way less than all others get the ways of the
/// others, and are counted in `smaller_sets`: docs/decisions/0024-a-way-less.md. For TLBs.
void even_out(SetLayout& layout);

}  // namespace sonde
