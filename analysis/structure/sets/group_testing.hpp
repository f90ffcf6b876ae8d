// Reduces lines that overflow some set to the lines of one set: drops groups of lines while the
// others still overflow (group testing, as for eviction sets on processors: Vila, Koepf and Morales
// 2019).
#pragma once

#include "analysis/structure/sets/miss_oracle.hpp"

namespace sonde {

/// The smallest part of the lines that overflows: every line of it is needed, as confirmed twice.
/// Empty if no part overflows reliably.
/// @pre the lines fit without the last one
Lines reduce_to_one_set(const Lines& lines, const MissOracle& ask);

}  // namespace sonde
