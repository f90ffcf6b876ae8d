// Decides which devices measure which jobs a second time before the analysis is printed. Rank 0
// decides it from the shards; the other ranks read it from a file in the parts folder.
#pragma once

#include "analysis/fleet/fleet.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace sonde {

/// The jobs that one device measures again.
struct AgainTask {
  std::string uuid;
  std::vector<std::string> jobs;  // the job of the worst finding first
  double limit_s = 0;             // for all jobs together
};

/// The most time that a device may take to measure again: the whole fleet waits for the last one.
inline constexpr double most_again_s = 60;

/// The suspects (analysis/fleet/verdict/suspects.hpp) with the jobs that gave their findings, and
/// in each group a median peer for each of these jobs. The limit of a device is 1.5 times the first
/// time of its jobs, plus some seconds. A job is left out if the limit would exceed `most_again_s`,
/// or if it was measured again before.
/// @param present UUIDs of the devices that a rank of this run can measure
/// @pre analysis = reduce_fleet(run, ...)
std::vector<AgainTask> plan_again(const RunResult& run, const FleetAnalysis& analysis,
                                  const std::vector<std::string>& present);

/// Compares the devices of all shards, and writes the plan, which may be empty. @throws StoreError
void judge_shards(const std::filesystem::path& parts);

/// Writes `<parts>/again.json`, under its final name only when complete. Called by rank 0.
/// @throws StoreError
void write_again_plan(const std::filesystem::path& parts, const std::vector<AgainTask>& tasks);
/// @throws StoreError if the file does not exist or is damaged
std::vector<AgainTask> read_again_plan(const std::filesystem::path& parts);
/// Removes the file of an earlier run.
void clear_again_plan(const std::filesystem::path& parts);

/// Tells how to measure deviating findings of a run file again that were measured only once, since
/// the ranks had ended or it would take too long. Empty if there are none.
/// @pre analysis = reduce_fleet(run, ...)
std::string describe_unconfirmed(const RunResult& run, const FleetAnalysis& analysis,
                                 const std::filesystem::path& path);

}  // namespace sonde
