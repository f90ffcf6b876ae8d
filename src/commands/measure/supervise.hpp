// The rank's side of measuring: starts workers, watches their deadlines, and replaces lost ones.
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
  DeviceChoice device{};       // the UUID is empty if this rank has no device
  bool stopped_early = false;  // a signal came, or the time is over: jobs are left for --resume
  std::string failure{};       // why there is no shard to build the run file from
  bool given_up = false;       // no further process can measure the device
};

/// Has a worker list the GPUs that a rank sees. This can take seconds, in which MPI can start;
/// hear_devices waits for the answer.
void ask_devices(Keeper& keeper, int rank);

/// @throws DeviceError if the driver cannot list them, or does not answer in time
std::vector<DeviceChoice> hear_devices(Keeper& keeper);

/// Has workers measure the device at all points. If a worker is lost in a job, a new one goes on,
/// up to a bounded number at each point. At the end the shards are finished, or `stopped_early` or
/// `failure` tells why not. A job that runs for 10 s after SIGTERM, or for 60 s after SIGUSR1, is
/// left for --resume. A device that is given up has shards with the reason: at all points, or (with
/// a time budget) up to the current point.
/// @param task the task of the first worker
Supervised supervise(const RunPlan& run, Task task, Keeper& keeper, RankProgress& progress);

/// Has a worker judge the shards, within a bounded time.
/// @returns its report with the plan of who measures again, which is empty if it failed
Report judge(Keeper& keeper, const Task& task, RankProgress& progress);

/// Has one worker do a task `measure_again` or `measure_together`. If the worker is lost or its
/// time is over, these jobs are recorded as given up with the reason (for `measure_together` on all
/// GPUs of the node). Earlier results stay as they are in any case.
void supervise_late(const MeasurePlan& plan, const Task& task, Keeper& keeper,
                    RankProgress& progress);

/// Has a worker build or analyse the run file, without a time limit.
/// @returns its report, with the exit status and its meaning; `error`, with a line in the log, if
/// it failed
Report delegate(Keeper& keeper, const Task& task, RankProgress& progress);

}  // namespace sonde
