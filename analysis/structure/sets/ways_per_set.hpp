// How many ways each set has, once a function tells the set of every line.
#pragma once

#include "analysis/structure/index/index_function.hpp"
#include "analysis/structure/sets/conflict_set.hpp"
#include "analysis/structure/sets/line_pool.hpp"

#include <cstdint>
#include <vector>

namespace sonde {

/// Ways by number of the set, from those of one of them. The few sets that differ from the others
/// are asked again, each alone: an outlier that repeats makes a set look smaller than it is. Empty
/// if some set has too few lines, or ways too many or too few for it to be seen.
/// @pre can_number_sets(index)
std::vector<std::uint32_t> measure_ways(const IndexFunction& index, const LinePool& space,
                                        const EvictionSet& conflict, const MissOracle& ask);

/// Whether lines of one set that missed so often in a chase overflow it: that costs at least one
/// miss in a pass.
bool set_overflows(std::uint32_t misses, std::uint32_t passes);

}  // namespace sonde
