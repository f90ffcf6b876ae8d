// The same device on two days: its own history weighs as much as its peers.
#pragma once

#include "analysis/fleet/fleet.hpp"
#include "base/exit_status.hpp"

#include <string>
#include <vector>

namespace sonde {

/// One metric of one device that changed between two runs.
struct Change {
  std::string uuid = "";
  std::string setting = "";  // of a sweep
  /// On the ground of the past, with the values of both days. A device of the later run. The size
  /// is a fraction of the earlier value, NaN where there is none.
  Charge charge = {.ground = Ground::past};
};

struct RunComparison {
  std::string other_options;  // what the runs were asked, where not the same; structure then warns
  std::size_t paired_gpus = 0;           // found in both runs by UUID, of sweeps at one setting
  std::vector<std::string> only_before;  // UUIDs; of a sweep "GPU-1a2b3c4d (memory-percent=50)"
  std::vector<std::string> only_after;
  std::vector<Change> changes;  // worst first
};

/// Devices paired by UUID and, of sweeps, by setting. Structural values must be equal, capacities
/// agree; continuous ones may move by the tolerance and by `within_factor` of their own repeat
/// scatter. Fingerprints, which belong to the die, are compared index by index here, and only here.
RunComparison compare_runs(const RunResult& before, const RunResult& after,
                           std::span<const Metric> registry = all_metrics());

/// `verdict` if a value changed so much for the worse that the device fails, `incomplete` if no
/// device is in both runs, else `ok`.
ExitStatus exit_status(const RunComparison& comparison);

}  // namespace sonde
