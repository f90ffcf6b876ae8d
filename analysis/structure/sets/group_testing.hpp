// From many lines that overflow some set to the lines of that set: what the lines overflow without
// is dropped, group by group (group testing, as for eviction sets on processors: Vila, Koepf and
// Morales 2019).
#pragma once

#include "analysis/structure/sets/miss_oracle.hpp"

namespace sonde {

/// The smallest part of the lines that overflows: all of it is needed, as seen twice. Empty if
/// nothing reliable is left. The last line must be needed: the lines before it fit.
Lines reduce_to_one_set(const Lines& lines, const MissOracle& ask);

}  // namespace sonde
