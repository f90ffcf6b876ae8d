// Reads a run file and analyses its devices, for the commands that print.
#pragma once

#include "analysis/fleet/fleet.hpp"
#include "store/run_reader.hpp"

#include <filesystem>
#include <span>

namespace sonde {

struct RunComparison;

struct Fleet {
  RunResult run;  // in a run with repeats their centres
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

}  // namespace sonde
