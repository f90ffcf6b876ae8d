// Measures one device: runs its jobs, fills its shard. Runs in a worker process, without MPI.
#pragma once

#include "commands/measure/run_plan.hpp"
#include "commands/measure/worker_task.hpp"

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace sonde {

/// How far the measuring of a device is.
struct Step {
  std::size_t point = 0;
  std::string_view job;  // the current job; empty at the start of a point
  int jobs_done = 0;
  bool begins = false;  // true: the job begins; false: one of its probes has ended
  bool waits = false;   // true: nothing has ended; the job waits for other GPUs
};

/// Opens the device and binds this process to the CPUs near it. Returns nullptr, with the reason in
/// `result`, if the device cannot be measured.
std::unique_ptr<Device> open_to_measure(const MeasurePlan& plan, const DeviceChoice& choice,
                                        DeviceResult& result);

/// Runs one job with the options and on the SMs that the plan has for it (jobs/suite.hpp).
JobOutcome run_planned(const MeasurePlan& plan, const Job& job, Device& device, std::uint64_t seed,
                       const std::vector<JobResult>& earlier, const std::function<void()>& on_probe,
                       const NodeGpus& node = {});

/// Sets the outcome of the device from its jobs, with the reason of the first job that failed.
void note_outcome(DeviceResult& device);

/// The result of a job that did not run to its end: each of its metrics has the reason.
JobResult job_without_answers(const Job& job, Status status, const std::string& reason);

/// The result of a job between GPUs for a GPU without reachable links; this is no failure.
JobResult job_without_links(const Job& job, const std::string& reason);

/// Opens one GPU and measures the remaining points of the run, one after the other: runs the jobs
/// that concern this GPU alone and writes each result into the shard of the point. Errors of the
/// device do not throw; a device that cannot be opened is `incomplete` with the reason.
/// @param task names the first point
/// @returns `measured`, `stopped`, or `job_lost` if the device failed in a job; with the point
/// @throws StoreError if a shard cannot be written
Report measure_device(const RunPlan& run, const Task& task,
                      const std::function<void(const Step&)>& on_step);

/// Writes the shards of a GPU that no process can measure any more, from the point of the task on:
/// the remaining jobs are `not_run` for this reason. With a time budget it writes this point only,
/// since the other GPUs decide how many follow. Does not touch the device.
/// @param on_point called before each point @throws StoreError
void give_up_device(const RunPlan& run, const Task& task, const std::string& reason,
                    const std::function<void()>& on_point);

}  // namespace sonde
