// One search for the sets of a cache or a TLB level: eviction sets by group testing, their other
// lines, the index function, the ways of every set, the replacement policy.
#pragma once

#include "analysis/structure/predict/predictions.hpp"
#include "jobs/sets/sets_probe.hpp"

namespace sonde {

/// The pass evictors found, with lines behind them that always miss, and those of their sets
/// excluded. nullopt if no lines do. @pre `found` has a pool and its pass evictors
std::optional<PassEvictors> keep_room_busy(SetsProbe& probe, const SetFindings& found);

/// Searches and matches; reports nothing.
/// Method: docs/methods/conflict-sets.md.
SetFindings find_sets(SetsProbe& probe);

/// Whether sets found elsewhere hold here, too: as many lines as a set has ways fit, one more does
/// not, in some dozens of sets each asked alone. @pre sets are numbered, and have as many ways each
Predictions try_sets(SetsProbe& probe, const SetFindings& found);

}  // namespace sonde
