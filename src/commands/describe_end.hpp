// The last line of `sonde run`: what its exit status means.
#pragma once

#include "analysis/fleet/fleet.hpp"
#include "base/exit_status.hpp"

#include <string>

namespace sonde {

/// "status 4: 1 of 8 GPUs failed its verdict; see run.h5"
/// @param status of a run with a run file: ok, incomplete or verdict
std::string describe_end(ExitStatus status, const FleetCounts& counts, const std::string& run_file);

}  // namespace sonde
