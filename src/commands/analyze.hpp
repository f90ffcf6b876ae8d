// Compares the devices of a run file: `run` does it at its end, `sonde analyze` at any time.
#pragma once

#include "analysis/fleet/fleet.hpp"
#include "base/exit_status.hpp"

#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace sonde {

/// Compares the devices of a run file, stores the analysis in it and prints the table to stdout.
/// @param baseline an earlier run file; devices that became worse since then are charged; "": none
/// @param registry the metrics with their tolerances; must outlive the analysis
/// @throws StoreError
FleetAnalysis analyze_run(const std::filesystem::path& path, const std::string& baseline = "",
                          std::span<const Metric> registry = all_metrics());

/// The registry with other tolerances: a metric warns from FRACTION; its limit to fail scales, too.
/// @param tolerances each "METRIC=FRACTION"; if a metric is named twice, the last one counts
/// @throws ConfigError if the metric is unknown or has no tolerance, or FRACTION is not above 0
std::vector<Metric> registry_with(const std::vector<std::string>& tolerances);

/// The last line of a run: "status 4: 7 passed, 1 failed; see run.h5".
/// @param status ok, incomplete or verdict
std::string describe_end(ExitStatus status, const FleetCounts& counts, const std::string& run_file);

}  // namespace sonde
