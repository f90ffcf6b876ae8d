// Structure is compared exactly: the value that more devices have than any other is the reference
// (unique plurality); a tie is ambiguous and nobody is judged by it. Capacities may have a gradual
// edge and are compared as intervals.
#pragma once

#include "analysis/fleet/fleet.hpp"

namespace sonde {

/// Statistics of every structural metric and capacity of every group, and findings of those that
/// are compared, appended.
void compare_structure(const RunResult& run, const std::vector<ComparisonGroup>& groups,
                       const ReduceOptions& options, FleetAnalysis& analysis);

}  // namespace sonde
