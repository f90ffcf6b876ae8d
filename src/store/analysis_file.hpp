// What the reducer adds to a run file: the fleet's statistics, what deviates, and the verdicts. All
// else that `sonde export` prints stands in the file already.
#pragma once

#include "analysis/fleet/fleet.hpp"

#include <filesystem>

namespace sonde {

/// Writes `/analysis`, replacing an earlier one. One process alone. Works on a copy that is renamed
/// when whole: the run file is never at risk.
/// @pre analysis = reduce_fleet(run, ...) @throws StoreError
void append_analysis(const std::filesystem::path& path, const RunResult& run,
                     const FleetAnalysis& analysis);

}  // namespace sonde
