// From charges to the verdict of each device, and how many of each verdict there are.
#pragma once

#include "analysis/fleet/fleet.hpp"
#include "analysis/fleet/grounds/history.hpp"

namespace sonde {

/// Whether there should be a result and there is none.
bool is_missing(Status status);

/// Sorts the charges and makes from them the verdict of each device, and the counts; of the
/// verdicts that stand there `missing` is kept. The worst charge decides, with three exceptions:
/// a GPU that is gone is lost; one that another process used is incomplete, whatever its numbers;
/// and where the past or the reference tells which GPUs of an undecided group are wrong, the
/// others are not warned. @pre a verdict for each device
void decide(const RunResult& run, FleetAnalysis& analysis);

/// Adds what changed for the worse since the baseline to the charges, and makes the verdicts and
/// counts anew. A device that was not in the baseline keeps its verdict.
/// @param comparison of the baseline with `run` (compare_runs)
void judge_by_baseline(const RunResult& run, const RunComparison& comparison,
                       FleetAnalysis& analysis);

}  // namespace sonde
