// The verdict of each device from its findings, and how many of each verdict there are.
#pragma once

#include "analysis/fleet/fleet.hpp"

#include <vector>

namespace sonde {

/// Whether there should be a result and there is none.
bool is_missing(Status status);

/// @param findings of all devices
/// @param verdict with what was counted so far, and the numbers of the device's findings, worst
/// first
DeviceVerdict verdict_of(const DeviceResult& device, const std::vector<FleetFinding>& findings,
                         DeviceVerdict verdict);

/// Each device once, by the worst of its verdicts over the settings of a sweep.
FleetCounts count_devices(const RunResult& run, const std::vector<DeviceVerdict>& verdicts);

}  // namespace sonde
