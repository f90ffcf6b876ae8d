// The verdict of each device from its findings, and how many of each verdict there are.
#pragma once

#include "analysis/fleet/fleet.hpp"

#include <vector>

namespace sonde {

/// Whether there should be a result and there is none.
bool is_missing(Status status);

/// Sorts the findings, worst first, and makes from them the verdict of each device, and the counts;
/// of the verdicts that stand there `missing` is kept. @pre a verdict for each device
void assign_verdicts(const RunResult& run, FleetAnalysis& analysis);

}  // namespace sonde
