// From a run to its analysis: rank 0 calls it at the end of a run, and every report calls it. Also
// chooses the devices that are measured again, with a median peer, before a deviation is reported.
// Three names for three steps: judge_* and compare_* (grounds.hpp) apply one rule each and add
// charges; `decide` turns the charges into verdicts; `reduce_fleet` does all of it for a run.
#pragma once

#include "analysis/fleet/fleet.hpp"
#include "base/exit_status.hpp"

#include <optional>
#include <string>
#include <vector>

namespace sonde {

struct RunComparison;

/// The decision procedure of docs/fleet-analysis.md. Deterministic; never throws for a valid run.
FleetAnalysis reduce_fleet(const RunResult& run, const ReduceOptions& options = {});

/// A device that deviates in a metric, and the job that can measure this metric again.
struct Suspect {
  std::size_t device = 0;  // into RunResult::devices
  std::size_t group = 0;   // into FleetAnalysis::groups
  std::string metric;
  std::string job;
};

/// Every charge of warning or worse that is based on a measurement; once per device and metric,
/// worst first. Left out: health, values from the driver, numbers of units, charges against groups
/// or nodes, and metrics that were measured again already (DeviceResult::again).
/// @pre analysis = reduce_fleet(run, ...)
std::vector<Suspect> find_suspects(const FleetAnalysis& analysis, const RunResult& run);

/// The device of the group nearest to the median of this metric that is no suspect in it. Nothing
/// if there is none (a pair). @pre analysis = reduce_fleet(run, ...), which has the metric
std::optional<std::size_t> median_peer(const FleetAnalysis& analysis, const RunResult& run,
                                       std::size_t group, std::string_view metric);

/// Judges second measurements like first ones, and settles the charges: a step of reduce_fleet.
void look_again(const RunResult& run, const ReduceOptions& options, FleetAnalysis& analysis);

/// Sorts the charges and makes verdicts and counts: the last step of reduce_fleet. The worst charge
/// of a device decides, with three exceptions: a GPU that is gone is lost; a GPU that another
/// process used is incomplete; and if past or reference values say which GPUs of an undecided group
/// are wrong, the others get no warning.
void decide(const RunResult& run, FleetAnalysis& analysis);

/// Adds changes of warning or worse since the baseline to the charges, and makes verdicts and
/// counts again.
/// @param comparison of the baseline with `run` (compare_runs)
void judge_by_baseline(const RunResult& run, const RunComparison& comparison,
                       FleetAnalysis& analysis);

/// `verdict` if a device or node failed, else `incomplete` if devices are lost or incomplete or
/// findings are missing, else `ok`.
ExitStatus exit_status(const FleetAnalysis& analysis);

}  // namespace sonde
