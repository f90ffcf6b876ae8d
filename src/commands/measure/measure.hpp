// The measuring of one device: its jobs, its shard. Runs in a worker process, without MPI.
#pragma once

#include "analysis/results.hpp"
#include "commands/measure/worker_task.hpp"
#include "config/run_options.hpp"
#include "device/backends/open_device.hpp"
#include "jobs/suite.hpp"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sonde {

/// A job that a point takes from an earlier one, which measured it under the same options.
struct TakenJob {
  const Job* job = nullptr;
  std::size_t point = 0;
};

/// The options of one point of a run, looked up and checked.
struct MeasurePlan {
  RunOptions options;
  std::uint64_t device_seed = 1;  // of simulated GPUs: the same at all points of a run
  std::uint64_t seed = 1;         // of what jobs draw: another one for each repeat
  std::uint64_t repeat_index = 0;
  std::map<std::string, JobSettings> settings = {};  // by job
  int jobs_before = 0;                               // at the points of the run before this one
  std::optional<std::chrono::steady_clock::time_point> end = {};  // of the time budget
  BackendChoice backend;
  SuiteLevel level = SuiteLevel::standard;
  std::vector<const Job*> jobs;      // that are measured at this point
  std::vector<TakenJob> taken = {};  // the others, as far as the earlier point has an answer
  std::vector<int> sms = {};         // of the named jobs, or of all if none is; empty: all SMs
  std::filesystem::path parts;       // folder of the shard and of the progress file
  Provenance provenance;

  JobSettings settings_of(const Job& job) const;
  bool is_on_some_sms(const Job& job) const;
};

/// A run: its points are measured one after the other.
struct RunPlan {
  RunOptions options;
  std::filesystem::path parts;  // of the one point of a plain run; else each has a folder in it
  Provenance provenance;        // with all points
  std::vector<MeasurePlan> points;

  /// The points are repeated until the time budget is over: those are left that are whole then.
  bool fills_budget() const { return fills_time_budget(options); }
  /// Each point has a folder of shards.
  bool is_sweep() const { return points.size() > 1 || fills_budget(); }
  std::size_t points_of_repeat() const;
  int jobs_total() const;  // over all points
};

/// How far a device is.
struct Step {
  std::size_t point = 0;
  std::string_view job;  // under way; empty as a point begins
  int jobs_done = 0;
  bool begins = false;  // the job does; else a probe of it has ended
  bool waits = false;   // ... or nothing has: it waits for other GPUs
};

/// Why no further job is to begin: a signal came, or the time budget is over. Empty: one may.
std::string why_to_stop(const MeasurePlan& plan);

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
