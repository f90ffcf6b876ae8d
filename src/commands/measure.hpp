// One rank's part of a run: its device, its jobs, its shard. No collective MPI call in here.
#pragma once

#include "analysis/results.hpp"
#include "config/run_options.hpp"
#include "device/open_device.hpp"
#include "jobs/suite.hpp"

#include <filesystem>
#include <functional>
#include <optional>

namespace sonde {

/// The options of a run, looked up and checked, and the rank that acts on them.
struct MeasurePlan {
  RunOptions options;
  BackendChoice backend;
  SuiteLevel level = SuiteLevel::standard;
  std::vector<const Job*> jobs;
  std::filesystem::path parts;  // folder of the shard and of the progress file
  Provenance provenance;
  std::string node;
  int rank = 0;
  int ranks = 1;
};

/// What one rank has at the end of its measuring.
struct Measured {
  std::optional<DeviceResult> device{};  // nothing: the rank stood down, or failed
  bool stopped_early = false;            // a signal came: jobs are left for --resume
  std::string failure{};                 // why the shard could not be written
};

/// Runs the jobs on one device, each into the shard as it ends. Does not throw for anything that
/// the device does: a device that cannot be opened comes back `incomplete` with the reason.
/// @param on_progress called often, on the measuring thread
/// @throws StoreError if the shard cannot be written
Measured measure_device(const MeasurePlan& plan, const DeviceChoice& choice,
                        const std::function<void()>& on_progress);

}  // namespace sonde
