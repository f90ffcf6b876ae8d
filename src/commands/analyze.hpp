// The comparison of a run's devices, as it ends a run and as `sonde analyze` repeats it.
#pragma once

#include "analysis/fleet/fleet.hpp"
#include "base/exit_status.hpp"

#include <filesystem>

namespace sonde {

/// Compares the devices of a run file, stores the analysis in it and prints the table to stdout.
/// @param baseline an earlier run that decides the verdicts, too; "": none
/// @throws StoreError
FleetAnalysis analyze_run(const std::filesystem::path& path, const std::string& baseline = "");

/// The last line of a run: "status 4: 7 passed, 1 failed; see run.h5".
/// @param status of a run with a run file: ok, incomplete or verdict
std::string describe_end(ExitStatus status, const FleetCounts& counts, const std::string& run_file);

}  // namespace sonde
