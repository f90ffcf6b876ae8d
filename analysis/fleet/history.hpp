// The same device on two days: its own history tells more than its peers can.
#pragma once

#include "analysis/fleet/fleet.hpp"

#include <string>
#include <vector>

namespace sonde {

/// One metric of one device that changed between two runs.
struct Change {
  std::size_t device = 0;  // into the devices of the later run
  std::string uuid;
  std::string node;
  std::string setting;  // of a sweep
  std::string metric;
  std::string unit;
  std::string before;  // as a person reads it
  std::string after;
  double fraction = 0;  // of the earlier value; NaN where there is none
  Severity severity = Severity::info;
  std::string reason;
};

/// A device whose die is not the one that stood in its place.
struct OtherDie {
  std::string node;
  std::string pci_bus_id;
  std::string uuid_before;
  std::string uuid_after;
  std::string reason;  // what tells it
};

struct RunComparison {
  std::string other_options;  // what the runs were asked, where not the same; structure then warns
  std::size_t paired = 0;     // devices found in both runs by UUID; of sweeps at one setting each
  std::size_t paired_gpus = 0;
  bool has_common_gpu = false;               // in both runs, maybe with other settings
  std::vector<std::string> paired_settings;  // of sweeps: those at which any GPU is in both
  std::vector<OtherDie> other_dies;
  std::vector<std::string> only_before;  // UUIDs; of a sweep "GPU-1a2b3c4d (memory-percent=50)"
  std::vector<std::string> only_after;
  std::vector<Change> changes;  // worst first
};

/// Devices paired by UUID and, of sweeps, by setting. Structural values must be equal, capacities
/// agree; continuous ones may move by the tolerance and by `within_factor` of their own repeat
/// scatter. Fingerprints, which belong to the die, are compared index by index here, and only here.
/// Devices that changed their UUID are paired by node and PCI address, only to tell whether another
/// die stands there now.
RunComparison compare_runs(const RunResult& before, const RunResult& after,
                           const ReduceOptions& options = {});

}  // namespace sonde
