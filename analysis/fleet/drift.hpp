// What changes while a device is measured again and again: the slope of each number over the hours
// of its repeats, beside clock and temperature. Pure.
#pragma once

#include "analysis/fleet/fleet.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace sonde {

/// Every continuous metric of each device and setting that drifts: its change over the time of the
/// repeats is at least the tolerance (and 1.5 cycles, of metrics in whole cycles), three standard
/// deviations by Student's t, and a discovery among all that was tested (Benjamini and Hochberg
/// 1995, as `options` say). The SM clock that the probes saw counts as a metric.
/// @param run with each repeat in a row of its own
/// @param conditions of each row; rows without a time, and metrics in fewer than three repeats, are
/// left out
/// @returns by device, then metric; devices are rows of centre_of_repeats(run)
std::vector<Drift> find_drifts(const RunResult& run,
                               const std::vector<DeviceConditions>& conditions,
                               const ReduceOptions& options = {});

/// What was read in the first and in the last repeat that tells it; 0: none does. The ends of the
/// line through all of them lie elsewhere where the change is no straight one.
struct Readings {
  double first = 0;
  double last = 0;
};
Readings first_and_last(const Drift& drift, double RepeatValue::*number);
/// "1.98 to 1.86 GHz": both in the unit that suits the first.
std::string readings_text(const Readings& readings, std::string_view unit);

/// A warning for each drift for the worse, else a note. Metrics are named "... (drift)".
/// @param centre centre_of_repeats of the run
/// @param conditions of each of its devices
std::vector<Charge> drift_charges(const RunResult& centre,
                                  const std::vector<DeviceConditions>& conditions,
                                  const std::vector<Drift>& drifts, const ReduceOptions& options);

}  // namespace sonde
