// A device's own history weighs as much as its peers: what changed since an earlier run goes into
// the verdicts of the later one.
#pragma once

#include "analysis/fleet/history.hpp"
#include "base/exit_status.hpp"

namespace sonde {

/// Adds what changed for the worse since the baseline to the charges, and makes the verdicts and
/// counts anew. A device that was not in the baseline keeps its verdict.
/// @param comparison of the baseline with `run` (compare_runs)
void judge_by_baseline(const RunResult& run, const RunComparison& comparison,
                       FleetAnalysis& analysis);

/// `verdict` if a value changed so much for the worse that the device fails, else `ok`.
ExitStatus exit_status(const RunComparison& comparison);

}  // namespace sonde
