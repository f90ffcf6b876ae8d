// Reads a run file and analyses its devices, for the commands that print. Of a large fleet, only
// the printed part stays in memory; runs of several points and those compared are read whole.
#pragma once

#include "analysis/fleet/fleet.hpp"
#include "analysis/report/report.hpp"
#include "store/run_reader.hpp"

#include <filesystem>
#include <span>

namespace sonde {

struct Fleet {
  /// All devices and jobs. Up to 256 devices have all their findings. In a larger fleet all
  /// findings of flagged devices and of some examples are here; the other devices have only the
  /// findings without an answer and those in metrics that deviate.
  RunResult run;
  FleetAnalysis analysis;
};

/// Compares each device with its own past in the other file. Repeats are replaced by their centre.
/// @throws StoreError
RunComparison compare_files(const std::filesystem::path& before, const std::filesystem::path& after,
                            std::span<const Metric> registry = all_metrics());

/// @param baseline an earlier run file; devices that became worse since then are charged; "": none
/// @param depth Depth::probes also reads probes (evidence for a report), up to 64 devices
/// @param registry the metrics with their tolerances; must outlive the fleet
/// @throws StoreError
Fleet read_fleet(const std::filesystem::path& path, const std::string& baseline,
                 Depth depth = Depth::findings, std::span<const Metric> registry = all_metrics());

/// Streams the devices of a run file with all their findings; of a run of one point only some are
/// in memory at a time. The stream throws StoreError, too.
DeviceStream stream_devices(const std::filesystem::path& path);

}  // namespace sonde
