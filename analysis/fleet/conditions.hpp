// Under which conditions a device was measured: what may explain a deviation, or be the fault.
#pragma once

#include "analysis/fleet/fleet.hpp"
#include "trace/inventory.hpp"

#include <cstdint>

namespace sonde {

struct DeviceConditions {
  double sm_clock_hz = 0;    // median over the probes, else after the run; 0: not known
  double temperature_c = 0;  // highest seen; 0: not known
  std::size_t probes = 0;
  std::size_t throttled_probes = 0;
  std::uint64_t throttle_reasons = 0;  // harmful ones, of all probes
};

DeviceConditions summarize_conditions(const DeviceResult& device);

/// "thermal, power": the harmful reasons of a mask; "" if none.
std::string throttle_text(std::uint64_t reasons);

/// Findings that need no peers: error counters, row remaps, throttling, foreign processes.
std::vector<FleetFinding> health_findings(const RunResult& run);

/// A node that shows fewer GPUs than most nodes of the run do.
std::vector<FleetFinding> node_findings(const RunResult& run);

/// GPUs on the node that shows most often, times nodes; 0 if nodes differ too much to say.
std::size_t usual_device_count(const RunResult& run);

/// What most likely stands behind a metric's deviation: a throttled or slow clock that is large
/// enough to explain it, a foreign process, else what the metric measures.
FaultClass likely_fault(const FleetFinding& finding, const DeviceResult& device,
                        double clock_deviation_fraction);

}  // namespace sonde
