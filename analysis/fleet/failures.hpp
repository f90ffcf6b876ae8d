// Failures of jobs that say something of the GPU: wrong data, hangs, sticky errors, a GPU that is
// gone.
#pragma once

#include "analysis/fleet/fleet.hpp"

namespace sonde {

/// Findings from the reasons of jobs and findings that failed, second tries too:
/// `health.wrong_data`, `health.hang`, `health.sticky_error`, at most one of each per device,
/// severity `fail`. What more than half of three devices and more show is `warn`: then program or
/// driver are more likely at fault than all these GPUs.
std::vector<FleetFinding> failure_findings(const RunResult& run);

/// The reason that says that the GPU is gone; "" if none does.
std::string gone_reason(const DeviceResult& device);

}  // namespace sonde
