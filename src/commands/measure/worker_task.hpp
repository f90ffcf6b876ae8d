// What a rank and its worker say to each other, as JSON (worker/keeper.hpp brings it across).
#pragma once

#include "device/device.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace sonde {

enum class TaskKind {
  list_devices,  // reports `devices`
  measure,       // reports `progress`, and in the end `measured`, `stopped`, `job_lost` or `failed`
  judge,         // the shards: who is measured again; reports `finished`
  measure_again,     // reports `progress`, and in the end `measured` or `failed`
  measure_together,  // the same
  build,             // the run file from the shards; reports `finished`
  analyze            // the run file that all ranks wrote; reports `finished`
};

/// A job that took its worker along.
struct LostJob {
  std::string job;
  std::string reason;
};

struct Task {
  TaskKind kind = TaskKind::list_devices;
  int rank = 0;
  int ranks = 1;
  int sm_count = 0;  // of the largest GPU of the run; 0: not known yet
  std::size_t point =
      0;  // of the run, for all but the tasks on whole files; `measure` goes on from it
  // Of `measure`:
  DeviceChoice device{};
  std::vector<NodeGpu>
      node_gpus{};      // by rank, with the own one; of `measure_together`: all are its own
  bool resume = false;  // go on from what the shard holds
  std::vector<LostJob> lost_jobs{};  // by earlier workers: not to be tried again
  // Of `measure_again`, besides the device:
  std::vector<std::string> again_jobs{};
  double limit_s = 0;  // of all of them together; of `measure_together`, too
  // Of `build`:
  std::vector<int> lost_ranks{};  // as far as is known
};

enum class ReportKind { devices, progress, measured, stopped, job_lost, failed, finished };

struct Report {
  ReportKind kind = ReportKind::progress;
  std::size_t point = 0;  // of `measure`: under way, or the number of points if all are measured
  std::vector<DeviceChoice> devices{};
  std::string job{};  // under way, or lost
  int jobs_done = 0;
  std::uint64_t probes_done = 0;
  std::string reason{};  // of a failure; of `finished`: what the exit status means
  int exit_status = 0;   // of `finished`
};

std::string to_json(const Task& task);
std::string to_json(const Report& report);
/// @throws Error if the text is not what to_json gave
Task task_from_json(const std::string& text);
Report report_from_json(const std::string& text);

}  // namespace sonde
