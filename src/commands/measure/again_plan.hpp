// Which devices measure what a second time, before anybody hears that they deviate: decided by rank
// 0 from the shards, and read by the ranks from a file beside them.
#pragma once

#include "analysis/fleet/fleet.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace sonde {

/// What one device is to measure again.
struct AgainTask {
  std::string uuid;
  std::vector<std::string> jobs;  // the worst finding's first
  double limit_s = 0;             // of all of them together
};

/// No device may measure again for longer: the whole fleet waits for the last one.
inline constexpr double most_again_s = 60;

/// The suspects (analysis/fleet/verdict/suspects.hpp) with the jobs that gave their findings, and
/// in each group a median peer for each of these jobs. A device's time is bounded by half as long
/// again as its jobs took at first, and some seconds; a job that would exceed `most_again_s` is
/// left out, and so is one that was tried a second time before.
/// @param present UUIDs of the devices that a rank of this run can measure
/// @pre analysis = reduce_fleet(run, ...)
std::vector<AgainTask> plan_again(const RunResult& run, const FleetAnalysis& analysis,
                                  const std::vector<std::string>& present);

/// Compares the devices of all shards, and writes the plan, which may be empty. @throws StoreError
void judge_shards(const std::filesystem::path& parts);

/// `<parts>/again.json`, by rank 0; it appears when it is whole. @throws StoreError
void write_again_plan(const std::filesystem::path& parts, const std::vector<AgainTask>& tasks);
/// @throws StoreError if it is not there, or no such plan
std::vector<AgainTask> read_again_plan(const std::filesystem::path& parts);
/// Removes that of an earlier run.
void clear_again_plan(const std::filesystem::path& parts);

/// For findings of a run file that nobody has measured again, as the ranks had gone or it took too
/// long: how to do it. Empty if there are none.
/// @pre analysis = reduce_fleet(run, ...)
std::string describe_unconfirmed(const RunResult& run, const FleetAnalysis& analysis,
                                 const std::filesystem::path& path);

}  // namespace sonde
