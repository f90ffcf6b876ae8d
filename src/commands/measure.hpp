// One rank's part of a run: its device, its jobs, its shard. No MPI in here.
#pragma once

#include "analysis/results.hpp"
#include "config/config.hpp"
#include "device/open_device.hpp"
#include "jobs/suite.hpp"

#include <filesystem>

namespace sonde {

struct MeasurePlan {
  BackendChoice backend;
  SuiteLevel level = SuiteLevel::standard;
  std::vector<const Job*> jobs;
  std::filesystem::path parts;  // folder of the shard and of the progress file
  Provenance provenance;
  std::string node;
  int rank = 0;
  int ranks = 1;
};

struct Measured {
  DeviceResult device;
  bool stopped_early = false;  // a signal came: jobs are left for --resume
};

/// Runs the jobs on one device, each into the shard as it ends. Does not throw for anything that
/// the device does: a device that cannot be opened comes back `incomplete` with the reason.
/// @param on_progress called often, on the measuring thread
/// @throws StoreError if the shard cannot be written
Measured measure_device(const MeasurePlan& plan, const Config& config, const DeviceChoice& choice,
                        const std::function<void()>& on_progress);

}  // namespace sonde
