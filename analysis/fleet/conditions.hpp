// Under which conditions a device was measured, and what most likely stands behind a deviation.
#pragma once

#include "analysis/fleet/fleet.hpp"
#include "trace/inventory.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace sonde {

/// The SM clock that the probes saw, compared and judged as a metric is.
inline constexpr Metric clock_metric{
    "conditions.sm_clock_hz",         "Hz", MetricKind::continuous, Better::higher, "",
    "SM clock while it was measured", ""};

/// Of a device with its probes.
DeviceConditions summarize_conditions(const DeviceResult& device);

/// Of each device; those that `known` has, if any. @throws Error if that has another number
std::vector<DeviceConditions> conditions_of(const RunResult& run,
                                            std::span<const DeviceConditions> known = {});

/// "thermal, power": the harmful reasons of a mask; "" if none.
std::string throttle_text(std::uint64_t reasons);

/// How many other processes were on this GPU when it was opened, before a job, or after the last.
int foreign_processes(const DeviceResult& device);
/// Whether there were any: then its numbers are not its own.
inline bool is_contended(const DeviceResult& device) { return foreign_processes(device) > 0; }

/// What most likely stands behind a deviation: a throttled or slow clock that is large enough to
/// explain it, else what the metric measures.
/// @param clock_deviation_fraction of the device's SM clock from that of its peers, or its past
Trouble likely_trouble(const Charge& charge, const DeviceConditions& conditions,
                       double clock_deviation_fraction);

/// Completes the weighty charges against devices: the trouble where it is unknown, the headline
/// ("SM 17 is 87 % slower than the others of this GPU"), and the conditions as evidence.
/// @param all of each device
/// @param clock_deviations distance of the SM clock from its peers', as a fraction, by device
void add_causes(const RunResult& run, const std::vector<DeviceConditions>& all,
                const std::map<std::size_t, double>& clock_deviations,
                std::vector<Charge>& charges);

}  // namespace sonde
