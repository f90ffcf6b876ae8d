// Clock and timestamp probes on a simulated GPU.
#pragma once

#include "device/probe.hpp"
#include "device/sim/die.hpp"
#include "device/sim/noise.hpp"
#include "trace/trace.hpp"

namespace sonde::sim {

Trace play_clock(const Model& model, const ClockProbe& probe, std::uint64_t seed);

/// @param now_ns simulated time of the launch
Trace play_timestamps(const Model& model, const Die& die, const TimestampProbe& probe,
                      double sm_clock_hz, double now_ns, std::uint64_t seed);

}  // namespace sonde::sim
