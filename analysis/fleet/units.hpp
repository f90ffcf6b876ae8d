// Charges on the ground of the device itself: single SMs and slices that stand out on their die.
#pragma once

#include "analysis/fleet/fleet.hpp"

namespace sonde {

/// SMs and slices that stand apart from all others of their device, in maps that have a better
/// direction. What a die shows is not put to a vote: only where the same unit stands apart by the
/// same amount on more than two thirds of five devices or more, GPUs of the model are built so, and
/// one note says it for all.
std::vector<Charge> unit_charges(const RunResult& run, const std::vector<ComparisonGroup>& groups,
                                 const ReduceOptions& options);

}  // namespace sonde
