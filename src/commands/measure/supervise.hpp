// The rank's side of measuring: it starts workers, watches them against deadlines, and goes on with
// another one when a job took one along.
#pragma once

#include "base/exit_status.hpp"
#include "commands/measure/measure.hpp"
#include "fleet/progress.hpp"
#include "worker/keeper.hpp"

#include <string>
#include <vector>

namespace sonde {

/// How the measuring of one device ended.
struct Supervised {
  DeviceChoice device{};        // without a UUID: this rank has none
  bool stopped_early = false;   // a signal came: jobs are left for --resume
  std::string failure{};        // why there is no shard to build the run file from
  std::string given_up{};       // why no further process can measure the device
  std::size_t points_done = 0;  // whose shards are finished, from the first on
};

/// How the work on whole files ended.
struct Delegated {
  ExitStatus status = ExitStatus::error;
  std::string meaning{};  // of the status, for people; empty after an error
};

/// Has a worker list the GPUs that a rank sees: hear_devices takes its answer. The driver takes its
/// time, in which MPI can start.
void ask_devices(Keeper& keeper, int rank);

/// @throws DeviceError if the driver cannot list them, or does not answer in time from now on
std::vector<DeviceChoice> hear_devices(Keeper& keeper);

/// Has the device measured at all points, by a new worker after each job that took one along, up to
/// a bounded number at each point. In the end its shards are finished, or `stopped_early` or
/// `failure` says why they are not. A job that goes on for 10 s after SIGTERM, or for 60 s after
/// SIGUSR1, is left for --resume. A device that is given up has shards that say so; in a night up
/// to the point at which it was.
/// @param task of the first worker
Supervised supervise(const RunPlan& run, Task task, Keeper& keeper, RankProgress& progress);

/// Has a worker judge the shards, within a bounded time. @returns whether it did
bool judge(Keeper& keeper, const Task& task, RankProgress& progress);

/// Has one worker measure a task `measure_again` or `measure_together`. If it is lost, or not over
/// in its time, these jobs are given up with the reason, those of `measure_together` on all GPUs of
/// the node; what was measured before stays as it is in any case.
void supervise_late(const MeasurePlan& plan, const Task& task, Keeper& keeper,
                    RankProgress& progress);

/// Has a worker build or analyse the run file, however long that takes.
/// @returns its exit status and what that means; `error`, with a line in the log, if it failed
Delegated delegate(Keeper& keeper, const Task& task, RankProgress& progress);

}  // namespace sonde
