// From a run to its analysis: what rank 0 calls at the end of a run, and every report before it;
// and whom it measures again before anybody hears that a device deviates, with a median peer beside
// it.
#pragma once

#include "analysis/fleet/fleet.hpp"
#include "base/exit_status.hpp"

#include <optional>
#include <string>
#include <vector>

namespace sonde {

struct RunComparison;

/// The decision procedure of docs/fleet-analysis.md. Deterministic; never throws for data that a
/// run can contain.
FleetAnalysis reduce_fleet(const RunResult& run, const ReduceOptions& options = {});

/// A device that deviates in a metric, and the job that measures that metric again.
struct Suspect {
  std::size_t device = 0;  // into RunResult::devices
  std::size_t group = 0;   // into FleetAnalysis::groups
  std::string metric;
  std::string job;
};

/// Every charge that gives a warning or worse and rests on a measurement, once per device and
/// metric, worst first. Left out: health, what the driver says, counts of units, findings about a
/// group or node, and what has been measured again already (DeviceResult::again).
/// @pre analysis = reduce_fleet(run, ...)
std::vector<Suspect> find_suspects(const FleetAnalysis& analysis, const RunResult& run);

/// The device of the group that is nearest the middle in that metric and no suspect in it. Nothing
/// if there is no such device, as in a pair, where both are suspects. @pre analysis =
/// reduce_fleet(run, ...), which knows the metric
std::optional<std::size_t> median_peer(const FleetAnalysis& analysis, const RunResult& run,
                                       std::size_t group, std::string_view metric);

/// Judges what was measured again as the first values were, and settles the charges by that: a step
/// of reduce_fleet.
void look_again(const RunResult& run, const ReduceOptions& options, FleetAnalysis& analysis);

/// Sorts the charges and makes from them the verdict of each device, and the counts: the last step
/// of reduce_fleet. The worst charge decides, with three exceptions: a GPU that is gone is lost;
/// one that another process used is incomplete, whatever its numbers; and where the past or the
/// reference tells which GPUs of an undecided group are wrong, the others are not warned.
void decide(const RunResult& run, FleetAnalysis& analysis);

/// Adds what changed for the worse since the baseline to the charges, and makes the verdicts and
/// counts anew. A device that was not in the baseline keeps its verdict.
/// @param comparison of the baseline with `run` (compare_runs)
void judge_by_baseline(const RunResult& run, const RunComparison& comparison,
                       FleetAnalysis& analysis);

/// `incomplete` for a device lost or findings missing, `verdict`, which goes before it, for a
/// failed device.
ExitStatus exit_status(const FleetAnalysis& analysis);

}  // namespace sonde
