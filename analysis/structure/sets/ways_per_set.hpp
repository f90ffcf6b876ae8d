// How many ways each set has, once the set of every line is known. A part of find_set_layout.
#pragma once

#include "analysis/structure/index/index_function.hpp"
#include "analysis/structure/sets/conflict_set.hpp"
#include "analysis/structure/sets/line_pool.hpp"

#include <cstdint>
#include <vector>

namespace sonde {

struct WaysBySet {
  std::vector<std::uint32_t> ways;  // by number of the set
  std::uint32_t short_sets = 0;     // of these: all their lines that could be asked fitted
};

/// Ways by number of the set, from those of one of them. The very few sets that differ from the
/// others, and a few that look smaller, are asked again, each alone, in six orders of its lines,
/// and the largest answer counts: other misses make a set look smaller than it is. A few that look
/// larger than most have fewer if their lines miss in most of several orders: random victims hide
/// most misses of a line too many. Sets of which memory has no line too many are taken to be like
/// most others, if they are half of all at most. Empty if more are, or if some set has far other
/// ways than the first.
/// @pre can_number_sets(index)
WaysBySet measure_ways(const IndexFunction& index, const LinePool& space,
                       const EvictionSet& conflict, const MissOracle& ask);

}  // namespace sonde
