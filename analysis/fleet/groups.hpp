// Which devices may be compared: only those that should be alike.
#pragma once

#include "analysis/fleet/fleet.hpp"

namespace sonde {

/// Groups by GPU name, memory size, ECC, MIG and driver major version, in the order in which they
/// first appear. Lost devices that left no inventory belong to none.
std::vector<ComparisonGroup> comparison_groups(const RunResult& run);

}  // namespace sonde
