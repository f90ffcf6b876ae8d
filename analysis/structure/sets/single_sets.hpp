// Sets found one by one, where no function of the address tells the set of a line: a part of
// find_set_layout.
#pragma once

#include "analysis/structure/sets/set_layout.hpp"

namespace sonde {

/// Sets without a function are looked for one by one as long as there are no more than these.
inline constexpr std::size_t most_single_sets = 64;

/// Looks for set after set in the pool and completes the layout with all of them or with a sample;
/// or tells why it cannot. @pre found.conflict was found in this pool
void find_single_sets(const LinePool& space, const Lines& pool, const MissOracle& ask,
                      const std::optional<OtherCoResidents>& other, SetLayout& found);

/// The conflict's lines, and behind them those members that are none of them.
Lines with_conflict_first(const EvictionSet& conflict, const Lines& members);

}  // namespace sonde
