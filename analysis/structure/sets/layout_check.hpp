// Further chases against the ways of sets that were found. A part of find_set_layout.
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

/// Number of a line's set; none: unknown.
using SetOfLine = std::function<std::optional<std::uint64_t>(std::uint64_t line)>;

/// Chases random lines of known sets: every set that they overfill must overflow, and no
/// other in every order of the lines. Each set of each chase is a prediction.
/// @param fitting_lines a chase is a quarter longer
Predictions check_ways(const std::vector<std::uint32_t>& ways_by_set, const SetOfLine& set_of_line,
                       const LinePool& space, std::size_t fitting_lines, const MissOracle& ask);

/// Whether sets that have other ways than the first one show as many by themselves. A function that
/// puts lines of two sets into one gives it the ways of both, but a part of its lines overflows;
/// one that parts a set gives each half a part of its ways.
/// @param ways by number of the set
/// @param home number of the first one
/// @param most_more lines that the smallest list of a set may hold beyond its ways and one
bool others_show_their_ways(const IndexFunction& index, const LinePool& space,
                            const std::vector<std::uint32_t>& ways, std::uint64_t home,
                            std::size_t most_more, const MissOracle& ask);

struct SmVote {
  std::size_t questions = 0;      // that nearly all SMs answered alike
  std::vector<int> odd_sms = {};  // ascending, by place among the answers
};

/// Questions on which the SMs are divided, as under random replacement, do not count. Odd is who
/// says otherwise than most far more often than others do; if more than one SM in ten would be,
/// nobody is: then it is chance.
/// @param answers of each SM to each question, as many for each; at least three SMs, or nobody is
///   odd
/// @param least_disagreements of an odd SM
SmVote vote(const std::vector<std::vector<bool>>& answers, std::size_t least_disagreements);

}  // namespace sonde
