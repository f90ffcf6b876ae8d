// Who is out within one device: findings about single SMs.
#pragma once

#include "analysis/fleet/fleet.hpp"

namespace sonde {

/// SMs that stand apart from all others of their device, in maps that have a better direction.
/// Where half of the devices of a group show such SMs, it is how the model is built: information
/// only.
std::vector<FleetFinding> judge_maps(const RunResult& run,
                                     const std::vector<ComparisonGroup>& groups,
                                     const ReduceOptions& options);

}  // namespace sonde
