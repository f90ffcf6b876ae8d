// Failures of jobs that say something of the GPU: wrong data, hangs, sticky errors, a GPU that is
// gone.
#pragma once

#include "analysis/fleet/fleet.hpp"

namespace sonde {

/// Charges on the ground of the device itself, from the reasons of jobs and findings that failed,
/// second tries too: `health.wrong_data`, `health.hang`, `health.sticky_error`, at most one of each
/// per device, however many devices show it.
std::vector<Charge> failure_charges(const RunResult& run);

/// The reason that says that the GPU is gone; "" if none does.
std::string gone_reason(const DeviceResult& device);

}  // namespace sonde
