// The comparison of a run's devices, as it ends a run and as `sonde analyze` repeats it.
#pragma once

#include "analysis/fleet/fleet.hpp"
#include "base/exit_status.hpp"

#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace sonde {

/// Compares the devices of a run file, stores the analysis in it and prints the table to stdout.
/// @param baseline an earlier run that decides the verdicts, too; "": none
/// @param registry with the tolerances to go by; outlives the analysis
/// @throws StoreError
FleetAnalysis analyze_run(const std::filesystem::path& path, const std::string& baseline = "",
                          std::span<const Metric> registry = all_metrics());

/// The registry with other tolerances: a metric warns from FRACTION, and its limit to fail changes
/// in proportion.
/// @param tolerances each "METRIC=FRACTION"; of those of one metric the last counts
/// @throws ConfigError for an unknown metric, one that is not compared by a tolerance, and what is
/// no number above 0
std::vector<Metric> registry_with(const std::vector<std::string>& tolerances);

/// The last line of a run: "status 4: 7 passed, 1 failed; see run.h5".
/// @param status of a run with a run file: ok, incomplete or verdict
std::string describe_end(ExitStatus status, const FleetCounts& counts, const std::string& run_file);

}  // namespace sonde
