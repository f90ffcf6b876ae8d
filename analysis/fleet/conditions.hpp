// The conditions under which a device was measured, and the most likely cause of a deviation.
#pragma once

#include "analysis/fleet/fleet.hpp"
#include "trace/inventory.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace sonde {

/// The SM clock during probes, compared and judged like a metric.
inline constexpr Metric clock_metric{
    "conditions.sm_clock_hz",         "Hz", MetricKind::continuous, Better::higher, "",
    "SM clock while it was measured", ""};

/// From all probes of the device, and from before and after its jobs.
DeviceConditions summarize_conditions(const DeviceResult& device);

/// Of each device.
std::vector<DeviceConditions> conditions_of(const RunResult& run);

/// "thermal, power": the harmful reasons of a mask; "" if there are none.
std::string throttle_text(std::uint64_t reasons);

/// The most other processes seen on this GPU, from its opening to the end of its last job.
int foreign_processes(const DeviceResult& device);
/// True if there were any: then the numbers of the GPU are not its own.
inline bool is_contended(const DeviceResult& device) { return foreign_processes(device) > 0; }

/// The most likely cause of a deviation: a throttled or slow clock that may explain it, else the
/// part that the metric measures.
/// @param clock_deviation_fraction deviation of the SM clock from its peers or its past
Trouble likely_trouble(const Charge& charge, const DeviceConditions& conditions,
                       double clock_deviation_fraction);

/// Completes charges of warning or worse against devices: an unknown trouble, the headline ("SM 17
/// is 87 % slower than the others of this GPU"), and the conditions as evidence.
/// @param all conditions of each device
/// @param clock_deviations relative deviation of the SM clock from that of its peers, by device
void add_causes(const RunResult& run, const std::vector<DeviceConditions>& all,
                const std::map<std::size_t, double>& clock_deviations,
                std::vector<Charge>& charges);

}  // namespace sonde
