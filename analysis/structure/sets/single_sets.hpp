// Finds set after set if no function of the address gives the set. A part of find_set_layout.
#pragma once

#include "analysis/structure/sets/conflict_set.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace sonde {

/// The search takes up to this number of sets. All 160 sets of an L2 whose number of slices is no
/// power of two are found in 5 s of device time; 192 sets take longer than a search may.
inline constexpr std::size_t most_single_sets = 160;

/// Vectors are indexed by the number of the set.
struct SingleSets {
  std::vector<Lines> lines;         // the conflict's lines first
  std::vector<std::uint32_t> ways;  // without those that co-resident lines occupy
  std::string reason;               // why not all sets are found; empty if all are
};

/// Finds all sets that the pool can overfill, or gives the reason why not.
/// @param first a conflict found in the pool
SingleSets take_single_sets(Lines pool, const EvictionSet& first, const MissOracle& ask);

}  // namespace sonde
