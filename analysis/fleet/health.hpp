// Charges from error counters, heat, failures, and who else was there or is missing.
#pragma once

#include "analysis/fleet/fleet.hpp"

namespace sonde {

/// Charges on the ground of the device itself: from the health before and after measuring, from the
/// conditions of the probes, and from jobs that failed for a reason that says something of the GPU
/// (wrong data, hangs, sticky errors). On the ground of peers: a device with far more errors since
/// its driver was loaded than its group; a node with fewer GPUs than most nodes.
/// @param conditions of each device
std::vector<Charge> health_charges(const RunResult& run, const std::vector<ComparisonGroup>& groups,
                                   const std::vector<DeviceConditions>& conditions);

/// GPUs on the node that shows most often, times nodes; 0 if nodes differ too much to say.
std::size_t usual_device_count(const RunResult& run);

/// The reason that says that the GPU is gone; "" if none does.
std::string gone_reason(const DeviceResult& device);

}  // namespace sonde
