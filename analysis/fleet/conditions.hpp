// Under which conditions a device was measured: what may explain a deviation.
#pragma once

#include "analysis/fleet/fleet.hpp"
#include "trace/inventory.hpp"

#include <cstdint>

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

/// Those of a device that was measured several times, as if its probes were those of one run.
/// @pre repeats not empty
DeviceConditions centre_of_conditions(std::span<const DeviceConditions> repeats);

/// "thermal, power": the harmful reasons of a mask; "" if none.
std::string throttle_text(std::uint64_t reasons);

/// Whether another process was on this GPU when it was opened, before a job, or after the last:
/// then its numbers are not its own.
bool is_contended(const DeviceResult& device);

}  // namespace sonde
