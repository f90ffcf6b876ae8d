// Writes the analysis into a run file: the statistics of the fleet, its charges and its verdicts.
#pragma once

#include "analysis/fleet/fleet.hpp"

#include <filesystem>

namespace sonde {

/// Writes `/analysis`, replacing an earlier one. Works on a copy that is renamed when complete, so
/// the run file is never at risk. Called by one process only.
/// @pre analysis = reduce_fleet(run, ...) @throws StoreError
void append_analysis(const std::filesystem::path& path, const RunResult& run,
                     const FleetAnalysis& analysis);

}  // namespace sonde
