// Whether a function that fits one set fits others, too. A part of find_set_layout.
#pragma once

#include "analysis/structure/index/index_function.hpp"
#include "analysis/structure/sets/conflict_set.hpp"
#include "analysis/structure/sets/line_pool.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sonde {

/// Whether sets that have other ways than the first one show as many by themselves. A function that
/// puts lines of two sets into one gives it the ways of both, but a part of its lines overflows;
/// one that parts a set gives each half a part of its ways.
/// @param ways by number of the set
/// @param home number of the first one
/// @param most_more lines that the smallest list of a set may hold beyond its ways and one
bool others_show_their_ways(const IndexFunction& index, const LinePool& space,
                            const std::vector<std::uint32_t>& ways, std::uint64_t home,
                            std::size_t most_more, const MissOracle& ask);

}  // namespace sonde
