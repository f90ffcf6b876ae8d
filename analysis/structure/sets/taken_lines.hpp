// Lines of sets that co-resident lines fill: they miss in every list, and would end any search for
// a set with too many lines.
#pragma once

#include "analysis/structure/sets/line_pool.hpp"

namespace sonde {

/// The lines of the pool that miss again and again beside the co-resident lines alone, ascending.
/// Asked in lists of an eighth of what those leave: of a cache of one way a line in 200 is given
/// back, too, because it shared its set with others in three of four lists. Empty where the first
/// lists show none, and of more lines than can be asked for.
/// @param ask chases lists together with the co-resident lines
Lines find_taken_lines(const LinePool& space, const MissOracle& ask);

}  // namespace sonde
