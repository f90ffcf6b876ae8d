// Under which conditions a device was measured: what may explain a deviation, or be the fault.
#pragma once

#include "analysis/fleet/fleet.hpp"
#include "trace/inventory.hpp"

#include <cstdint>

namespace sonde {

/// Of a device with its probes.
DeviceConditions summarize_conditions(const DeviceResult& device);

/// Of each device; those that `known` has, if any. @throws Error if that has another number
std::vector<DeviceConditions> conditions_of(const RunResult& run,
                                            std::span<const DeviceConditions> known = {});

/// Those of a device that was measured several times, as if its probes were those of one run.
/// @pre repeats not empty
DeviceConditions centre_of_conditions(std::span<const DeviceConditions> repeats);

/// "thermal, power": the harmful reasons of a mask; "" if none.
std::string throttle_text(std::uint64_t reasons);

/// Findings that need no peers: error counters, row remaps, throttling, foreign processes.
/// @param conditions of each device
std::vector<FleetFinding> health_findings(const RunResult& run,
                                          const std::vector<DeviceConditions>& conditions);

/// Links to the host that are less than slot and GPU can have together.
std::vector<FleetFinding> link_findings(const RunResult& run);

/// A node that shows fewer GPUs than most nodes of the run do.
std::vector<FleetFinding> node_findings(const RunResult& run);

/// GPUs on the node that shows most often, times nodes; 0 if nodes differ too much to say.
std::size_t usual_device_count(const RunResult& run);

/// What most likely stands behind a metric's deviation: a throttled or slow clock that is large
/// enough to explain it, a foreign process, else what the metric measures.
FaultClass likely_fault(const FleetFinding& finding, const DeviceResult& device,
                        const DeviceConditions& conditions, double clock_deviation_fraction);

/// What stands behind a finding, as a person says it: "SM clock 15 % below its peers' at 88 C,
/// throttled: thermal"; "" if the finding itself says as much, or if two devices differ and it
/// cannot be told which is wrong.
std::string cause_of(const FleetFinding& finding, const DeviceConditions& conditions,
                     double clock_deviation_fraction);

}  // namespace sonde
