// The measuring of one device: its jobs, its shard. Runs in a worker process, without MPI.
#pragma once

#include "commands/measure/run_plan.hpp"
#include "commands/measure/worker_task.hpp"

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace sonde {

/// How far a device is.
struct Step {
  std::size_t point = 0;
  std::string_view job;  // under way; empty as a point begins
  int jobs_done = 0;
  bool begins = false;  // the job does; else a probe of it has ended
  bool waits = false;   // ... or nothing has: it waits for other GPUs
};

/// Opens the device and moves this process next to it. A device that cannot be measured is nullptr,
/// and `result` says why.
std::unique_ptr<Device> open_to_measure(const MeasurePlan& plan, const DeviceChoice& choice,
                                        DeviceResult& result);

/// One job with the options, and on the SMs, that the plan has for it (jobs/suite.hpp).
JobOutcome run_planned(const MeasurePlan& plan, const Job& job, Device& device, std::uint64_t seed,
                       const std::vector<JobResult>& earlier, const std::function<void()>& on_probe,
                       const NodeGpus& node = {});

/// The device's outcome from those of its jobs, and the reason of the first that failed.
void note_outcome(DeviceResult& device);

/// The result of a job that could not be run to its end: each of its metrics says why.
JobResult job_without_answers(const Job& job, Status status, const std::string& reason);

/// That of a job between GPUs for one whose links are out of reach: nothing has failed, and the GPU
/// is not opened for it.
JobResult job_without_links(const Job& job, const std::string& reason);

/// Opens one GPU and runs, at one point of the run after the other, the jobs of a GPU by itself
/// that are left on it, each into the shard of the point as it ends. Does not throw for anything
/// that the device does: one that cannot be opened is `incomplete` with the reason.
/// @param task from its point on
/// @returns `measured`, `stopped`, or `job_lost` where the job took the device along; and at which
/// point
/// @throws StoreError if a shard cannot be written
Report measure_device(const RunPlan& run, const Task& task,
                      const std::function<void(const Step&)>& on_step);

/// The shards of a GPU that no process can measure any more: what is left at the points from that
/// of the task up to `end` is `not_run` for this reason. The device is not touched.
/// @param on_point called before each @throws StoreError
void give_up_device(const RunPlan& run, const Task& task, std::size_t end,
                    const std::string& reason, const std::function<void()>& on_point);

}  // namespace sonde
