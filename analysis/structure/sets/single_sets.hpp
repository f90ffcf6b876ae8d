// Finds set after set if no function of the address gives the set. A part of find_set_layout.
#pragma once

#include "analysis/structure/sets/conflict_set.hpp"
#include "analysis/structure/sets/line_pool.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace sonde {

/// Vectors are indexed by the number of the set.
struct SingleSets {
  std::vector<Lines> lines;         // the conflict's lines first
  std::vector<std::uint32_t> ways;  // without those that co-resident lines occupy
  std::string reason;               // why not all sets are found; empty if all are
};

/// Finds all sets that the pool can overfill. If there are far too many sets, finds twelve and
/// gives the reason.
/// @param first a conflict found in the pool
SingleSets take_single_sets(const LinePool& space, Lines pool, const EvictionSet& first,
                            const MissOracle& ask);

}  // namespace sonde
