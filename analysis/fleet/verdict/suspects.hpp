// Before anybody hears that a device deviates, it is measured again, with a median peer beside it:
// which devices by which jobs, and what the second measuring makes of the first findings.
#pragma once

#include "analysis/fleet/fleet.hpp"

#include <optional>

namespace sonde {

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

/// Metrics of charges that would give a warning or worse and whose device was measured again.
std::vector<Metric> doubted_metrics(const FleetAnalysis& analysis, const RunResult& run);

/// Adds to the second run, of every device in the order of the run, the findings in these metrics
/// alone: the second values (DeviceResult::again) of suspects and of the peers beside them, the
/// first ones of all others.
void add_second_tries(const RunResult& run, const std::vector<Metric>& metrics, RunResult& second);

/// What the second look makes of the charges of the first. One that does not come back, on the same
/// unit, becomes a note; so does one on the ground of peers whose peer is out now too, as then the
/// conditions have changed and not the device. One that comes back says so, and is no worse than
/// its second look. Without a second answer a charge stays as it is. reduce_fleet does all this.
/// @pre second is the analysis of a run with second tries of doubted_metrics(analysis, run)
void settle_suspects(const RunResult& run, const FleetAnalysis& second, FleetAnalysis& analysis);

}  // namespace sonde
