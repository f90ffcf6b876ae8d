// What changes while a device is measured again and again: a line through each number over the time
// of its repeats. Pure.
#pragma once

#include "analysis/fleet/fleet.hpp"

#include <vector>

namespace sonde {

/// A charge, "... (drift)", for each continuous metric of each device and setting, and for its SM
/// clock, if two things hold. The least-squares line changes by at least the tolerance (and 1.5
/// cycles, of metrics in whole cycles). And only one of a hundred nights of healthy devices would
/// show such a line anywhere: the p-value of the slope (Student's t) times the number of lines is
/// at most 0.01 (Bonferroni). A warning if the change is for the worse, else a note.
/// @param run with each repeat in a row of its own
/// @param conditions of each row; rows without a time, and metrics in fewer than three repeats, are
/// left out
/// @returns by device, then metric; devices are rows of centre_of_repeats(run)
std::vector<Charge> drift_charges(const RunResult& run,
                                  const std::vector<DeviceConditions>& conditions,
                                  const ReduceOptions& options);

}  // namespace sonde
