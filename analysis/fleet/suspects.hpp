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

/// Every finding that gives a warning or worse and rests on a measurement, once per device and
/// metric, worst first. Left out: health, what the driver says, counts of units, findings about a
/// group or node, and what has been measured again already (DeviceResult::again).
/// @pre analysis = reduce_fleet(run, ...)
std::vector<Suspect> find_suspects(const FleetAnalysis& analysis, const RunResult& run);

/// The device of the group that is nearest the middle in that metric and no suspect in it: of a
/// structural metric one that has the value of most. Nothing if there is no such device, as in a
/// pair, where both are suspects. @pre analysis = reduce_fleet(run, ...)
std::optional<std::size_t> median_peer(const FleetAnalysis& analysis, const RunResult& run,
                                       std::size_t group, std::string_view metric);

/// Compares the groups once more in the metrics of findings whose devices were measured again, with
/// the second values of these devices and of the peers beside them (DeviceResult::again). A finding
/// that does not come back becomes a note; so does one whose peer is out now too, as then the
/// conditions have changed and not the device. One that comes back says so, and is no worse than
/// its second look. Without a second answer a finding stays as it is. reduce_fleet calls this.
void settle_suspects(const RunResult& run, const ReduceOptions& options, FleetAnalysis& analysis);

}  // namespace sonde
