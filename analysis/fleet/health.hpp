// Charges on the ground of the device itself: error counters, Xids, links, heat, and who else was
// there. Each counter and alarm of the registry has a rule here.
#pragma once

#include "analysis/fleet/fleet.hpp"

namespace sonde {

/// How an alarm of the registry is judged: by a rule of its own, or as part of another metric.
struct AlarmRule {
  std::string_view metric;
  std::string_view judged_by;  // the metric that charges name
};
std::span<const AlarmRule> alarm_rules();

/// Charges from the health before and after measuring, and from the conditions of the probes.
/// @param conditions of each device
std::vector<Charge> health_charges(const RunResult& run,
                                   const std::vector<DeviceConditions>& conditions);

/// A node that shows fewer GPUs than most nodes of the run do.
std::vector<Charge> node_charges(const RunResult& run);

/// GPUs on the node that shows most often, times nodes; 0 if nodes differ too much to say.
std::size_t usual_device_count(const RunResult& run);

}  // namespace sonde
