// Checks the ways of sets with chases that the search has not used, for find_set_layout; and finds
// SMs that answer differently, for jobs/cache/every_sm.
#pragma once

#include "analysis/structure/index/index_function.hpp"
#include "analysis/structure/predict/predictions.hpp"
#include "analysis/structure/sets/conflict_set.hpp"
#include "analysis/structure/sets/line_pool.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace sonde {

/// Number of a line's set; nullopt if unknown.
using SetOfLine = std::function<std::optional<std::uint64_t>(std::uint64_t line)>;

/// Chases random lines of known sets. Every overfull set must overflow; a set that is not overfull
/// must fit in at least one order of the lines. Each set of each chase is a prediction.
/// @param fitting_lines number of lines that fit; a chase has a quarter more
Predictions check_ways(const std::vector<std::uint32_t>& ways_by_set, const SetOfLine& set_of_line,
                       const LinePool& space, std::size_t fitting_lines, const MissOracle& ask);

/// Measures two of the sets whose ways differ from the first set's, and compares. A wrong function
/// that joins two sets reports the ways of both, but some of its lines overflow earlier; a function
/// that splits a set reports only a part of its ways for each half.
/// @param ways by number of the set
/// @param home number of the first set
/// @param most_more lines by which the smallest eviction set may exceed the ways plus one
bool others_show_their_ways(const IndexFunction& index, const LinePool& space,
                            const std::vector<std::uint32_t>& ways, std::uint64_t home,
                            std::size_t most_more, const MissOracle& ask);

/// Finds SMs that disagree with the majority far more often than other SMs do. Ignores questions
/// that divide the SMs, as under random replacement. If more than a tenth of the SMs would be odd,
/// none is: the differences are then chance.
/// @param answers [SM][question]; with fewer than three SMs none is odd
/// @param least_disagreements that make an SM odd
/// @return indexes into the answers, ascending
std::vector<int> find_odd_sms(const std::vector<std::vector<bool>>& answers,
                              std::size_t least_disagreements);

}  // namespace sonde
