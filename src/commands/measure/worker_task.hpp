// The messages between a rank and its worker, as JSON; worker/keeper.hpp transports them.
#pragma once

#include "base/exit_status.hpp"
#include "device/device.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace sonde {

enum class TaskKind {
  list_devices,      // reports `devices`
  measure,           // reports `progress`, at the end `measured`, `stopped`, `job_lost` or `failed`
  judge,             // compares the shards and plans who measures again; reports `finished`
  measure_again,     // reports `progress`, at the end `measured` or `failed`
  measure_together,  // the same
  build,             // builds the run file from the shards; reports `finished`
  analyze            // builds the file if the ranks wrote none; analyses it
};

/// A job in which a worker was lost.
struct LostJob {
  std::string job;
  std::string reason;
};

struct Task {
  TaskKind kind = TaskKind::list_devices;
  int rank = 0;
  int ranks = 1;
  int sm_count = 0;  // of the GPU with the most SMs in the run; 0: not known yet
  // The point to work at; `measure` begins with it. Not for the tasks on whole files.
  std::size_t point = 0;
  // For `measure`:
  DeviceChoice device{};
  std::vector<NodeGpu> node_gpus{};  // by rank, with the own GPU; also for `measure_together`
  bool resume = false;               // continue the shard
  std::vector<LostJob> lost_jobs{};  // in which earlier workers were lost: do not try them again
  // For `measure_again`, besides the device:
  std::vector<std::string> again_jobs{};
  double limit_s = 0;  // for all jobs together; also for `measure_together`
  // For `build`:
  std::vector<int> lost_ranks{};  // as far as known
};

/// The jobs that one device measures again.
struct AgainTask {
  std::string uuid;
  std::vector<std::string> jobs;  // the job of the worst finding first
  double limit_s = 0;             // for all jobs together
};

enum class ReportKind { devices, progress, measured, stopped, job_lost, failed, finished };

struct Report {
  ReportKind kind = ReportKind::progress;
  std::size_t point = 0;  // `measure`: the current point, or the number of points if all are done
  std::vector<DeviceChoice> devices{};
  std::string job{};  // the running or lost job
  int jobs_done = 0;
  std::uint64_t probes_done = 0;
  std::string reason{};  // of a failure; `finished`: the meaning of the exit status
  ExitStatus exit_status = ExitStatus::ok;  // of `finished`
  std::vector<AgainTask> again{};           // `judge`: its plan
};

/// JSON for the other process.
std::string to_json(const Task& task);
std::string to_json(const Report& report);
/// @throws Error if the text is not what to_json gave
Task task_from_json(const std::string& text);
Report report_from_json(const std::string& text);

}  // namespace sonde
