// Charges from error counters, heat, and who else was there. Each counter and alarm of the registry
// has a rule here.
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

/// A warning for each device with far more corrected memory errors since its driver was loaded, or
/// far more remapped rows, than its peers: ten times their median or more (ten or more where that
/// is 0), and an outlier of the group. Counts scatter with their size, therefore they are compared
/// as 2 sqrt(n + 3/8), whose standard deviation is 1 for any Poisson rate (Anscombe 1948); a group
/// that scatters more than that widens it. Groups of less than three devices have no usual count.
std::vector<Charge> error_count_charges(const RunResult& run,
                                        const std::vector<ComparisonGroup>& groups);

/// A node that shows fewer GPUs than most nodes of the run do.
std::vector<Charge> node_charges(const RunResult& run);

/// GPUs on the node that shows most often, times nodes; 0 if nodes differ too much to say.
std::size_t usual_device_count(const RunResult& run);

}  // namespace sonde
