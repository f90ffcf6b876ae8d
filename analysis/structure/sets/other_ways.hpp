// Whether a function that fits one set fits others, too. A part of find_set_layout.
#pragma once

#include "analysis/structure/index/index_function.hpp"
#include "analysis/structure/sets/conflict_set.hpp"
#include "analysis/structure/sets/line_pool.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
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

/// Lines that overflow although they are no more than the ways of the only set, at a stride or
/// anywhere. Where a cache has more tags than data, most lists fill the data before any set of
/// tags, and the data look like one set. nullopt if there are none among some dozens of lists.
std::optional<Lines> find_fitting_that_overflow(const LinePool& space, std::uint32_t ways,
                                                const MissOracle& ask);

}  // namespace sonde
