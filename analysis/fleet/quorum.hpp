// Structure is compared exactly: what more than half of the devices of a group have is the
// reference. Capacities may have a gradual edge and are compared as intervals.
#pragma once

#include "analysis/fleet/series.hpp"

namespace sonde {

/// Statistics of every structural metric and capacity of every group, and charges by those that are
/// compared, appended. A device whose value differs from the majority's fails, if both sides are
/// sure. All devices are warned, and the values named, where there is no majority, where one of the
/// others has more (of what more is better of), or where half as many agree on another value.
void compare_structure(const RunResult& run, const std::vector<ComparisonGroup>& groups,
                       const ReduceOptions& options, Compared& all);

}  // namespace sonde
