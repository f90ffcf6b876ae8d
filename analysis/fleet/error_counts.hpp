// Error counters of the driver that stand still: how a device's totals compare with its peers'.
#pragma once

#include "analysis/fleet/fleet.hpp"

namespace sonde {

/// A warning for each device with far more corrected memory errors since its driver was loaded, or
/// far more remapped rows, than its peers: ten times their median or more (ten or more where that
/// is 0), and an outlier of the group. Counts scatter with their size, therefore they are compared
/// as 2 sqrt(n + 3/8), whose standard deviation is 1 for any Poisson rate (Anscombe 1948); a group
/// that scatters more than that widens it. Groups of less than three devices have no usual count.
std::vector<Charge> error_count_charges(const RunResult& run,
                                        const std::vector<ComparisonGroup>& groups,
                                        const ReduceOptions& options);

}  // namespace sonde
