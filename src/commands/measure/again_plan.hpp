// Decides which devices measure which jobs a second time before the analysis is printed. A worker
// of rank 0 decides it from the shards.
#pragma once

#include "analysis/fleet/fleet.hpp"
#include "commands/measure/worker_task.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace sonde {

/// The most time that a device may take to measure again: the whole fleet waits for the last one.
inline constexpr double most_again_s = 60;

/// The suspects (analysis/fleet/verdict/suspects.hpp) with the jobs that gave their findings, and
/// in each group a median peer for each of these jobs; at most 256 devices, the worst first. The
/// limit of a device is 1.5 times the first time of its jobs, plus some seconds. A job is left out
/// if the limit would exceed `most_again_s`, or if it was measured again before.
/// @param present UUIDs of the devices that a rank of this run can measure
/// @pre analysis = reduce_fleet(run, ...)
std::vector<AgainTask> plan_again(const RunResult& run, const FleetAnalysis& analysis,
                                  const std::vector<std::string>& present);

/// Compares the devices of all shards, and makes the plan. @throws StoreError
std::vector<AgainTask> judge_shards(const std::filesystem::path& parts);

}  // namespace sonde
