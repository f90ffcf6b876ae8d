// A run file and what it says of its devices, for the commands that print. Of a large fleet only
// what they print is in memory.
#pragma once

#include "analysis/fleet/fleet.hpp"
#include "analysis/report/report.hpp"
#include "store/run_reader.hpp"

#include <filesystem>
#include <span>

namespace sonde {

struct Fleet {
  /// All devices and jobs. Findings are all there of up to 256 devices; of more, those without an
  /// answer, those in metrics that deviate, and all of the flagged devices and of some others.
  RunResult run;
  FleetAnalysis analysis;
};

/// The devices of both files, each with its own past; of repeats the centre. @throws StoreError
RunComparison compare_files(const std::filesystem::path& before, const std::filesystem::path& after,
                            std::span<const Metric> registry = all_metrics());

/// @param baseline an earlier run that decides the verdicts, too; "": none
/// @param depth probes are the evidence that a page leads to: of up to 64 devices they are read
/// @param registry with the tolerances to go by; outlives the fleet
/// @throws StoreError
Fleet read_fleet(const std::filesystem::path& path, const std::string& baseline,
                 Depth depth = Depth::findings, std::span<const Metric> registry = all_metrics());

/// The devices of that file with all their findings, some in memory at a time. It throws
/// StoreError, too.
DeviceStream stream_devices(const std::filesystem::path& path);

}  // namespace sonde
