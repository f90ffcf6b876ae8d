// Measures the ways of each set, once the set of every line is known. A part of find_set_layout.
#pragma once

#include "analysis/structure/index/index_function.hpp"
#include "analysis/structure/sets/conflict_set.hpp"
#include "analysis/structure/sets/line_pool.hpp"

#include <cstdint>
#include <vector>

namespace sonde {

struct WaysBySet {
  std::vector<std::uint32_t> ways;  // by number of the set
  std::uint32_t short_sets = 0;     // sets whose lines all fit, as far as they may be accessed
};

/// Ways by number of the set. Starts with the ways of the conflict's set.
/// - Sets that look smaller than most are measured again if they are few, each alone in six orders
/// of its lines. The largest answer counts: other misses make a set look smaller than it is.
/// - Of few sets that look larger than most, ways are taken off while their lines still miss in
/// most of several orders: random replacement hides most misses of one line too many.
/// - Sets with too few lines in memory to overfill them get the ways of most others.
/// Empty if more than half of the sets have too few lines, or if the ways of a set are far from
/// those of the conflict's set.
/// @pre can_number_sets(index)
WaysBySet measure_ways(const IndexFunction& index, const LinePool& space,
                       const EvictionSet& conflict, const MissOracle& ask);

}  // namespace sonde
