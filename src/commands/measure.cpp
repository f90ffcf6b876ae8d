// Opens the rank's device, runs the jobs that are left on it, and writes each into the shard. The
// device's results go on to finish.cpp.
#include "commands/measure.hpp"

#include "base/error.hpp"
#include "base/log.hpp"
#include "fleet/bind_cpu.hpp"
#include "fleet/progress.hpp"
#include "mpi/session.hpp"
#include "store/shard.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

namespace sonde {
namespace {

/// Why this GPU must not be measured unless the user insists; empty if it may.
std::string find_sharing(const DeviceInfo& info) {
  if (info.mig) return "the GPU is in MIG mode (its caches and SMs are cut)";
  if (info.mps) return "MPS is active (other processes may run at the same time)";
  if (info.foreign_processes > 0) {
    return fmt::format("{} other process(es) use the GPU (they disturb every latency)",
                       info.foreign_processes);
  }
  return {};
}

/// Opens the device, moves next to it and notes its state. A device that cannot be measured is
/// nullptr, and `result` says why.
std::unique_ptr<Device> open_to_measure(const MeasurePlan& plan, const DeviceChoice& choice,
                                        DeviceResult& result) {
  result.info.uuid = choice.uuid;
  std::unique_ptr<Device> device;
  try {
    device = open_device(plan.backend, choice, plan.options.seed);
  } catch (const DeviceError& error) {
    result.reason = error.what();
    return nullptr;
  }
  result.info = device->info();
  const std::string sharing = find_sharing(result.info);
  if (!sharing.empty() && !plan.options.allow_shared_gpu) {
    result.reason = sharing + " free it, or use --allow-shared-gpu";
    return nullptr;
  }
  log_world(bind_near_device(result.info.pci_bus_id));
  result.before = device->health();
  return device;
}

/// A new shard, or with --resume the one of an earlier run, whose jobs come back in `result`.
Shard open_shard(const MeasurePlan& plan, DeviceResult& result) {
  if (!plan.options.resume) return Shard::create(plan.parts, result, plan.provenance);
  ResumedShard resumed = Shard::resume(plan.parts, result, plan.provenance);
  log_local(resumed.note);
  result.jobs = std::move(resumed.done);
  return std::move(resumed.shard);
}

/// Tells the other ranks, by the progress file, and the caller how far this rank is.
class Reporter {
 public:
  Reporter(const MeasurePlan& plan, const DeviceResult& result, std::function<void()> on_progress)
      : file_(plan.parts, plan.rank), result_(result), on_progress_(std::move(on_progress)) {
    progress_.rank = plan.rank;
    progress_.ranks = plan.ranks;
    progress_.node = plan.node;
    progress_.uuid = result.info.uuid;
    progress_.jobs_total = static_cast<int>(plan.jobs.size());
  }
  void begin(const Job& job) {
    progress_.job = job.name;
    tell();
  }
  void count_probe() {
    ++progress_.probes_done;
    tell();
  }
  void finish() {
    progress_.state = RankState::done;
    progress_.job.clear();
    tell();
  }

 private:
  using Clock = std::chrono::steady_clock;
  void tell() {
    progress_.elapsed_s = std::chrono::duration<double>(Clock::now() - start_).count();
    progress_.jobs_done = static_cast<int>(result_.jobs.size());
    file_.update(progress_);
    if (on_progress_) on_progress_();
  }

  ProgressFile file_;
  Progress progress_;
  const DeviceResult& result_;
  std::function<void()> on_progress_;
  Clock::time_point start_ = Clock::now();
};

/// @param lost why no job can run any more, if so; set when this job loses the device
JobResult measure_job(const MeasurePlan& plan, const Job& job, Device* device,
                      const std::vector<JobResult>& earlier, Reporter& reporter,
                      std::string& lost) {
  if (!lost.empty()) {
    JobResult unreached;
    unreached.job = job.name;
    unreached.reason = lost;
    return unreached;
  }
  JobOutcome outcome = run_job(job, *device, plan.level, plan.options.seed, earlier,
                               plan.options.job_timeout_s, [&] { reporter.count_probe(); });
  if (outcome.device_lost) {
    lost = fmt::format("the device was lost in job {}: {}", job.name, outcome.result.reason);
  }
  return std::move(outcome.result);
}

bool is_whole(const DeviceResult& device) {
  return std::ranges::all_of(device.jobs, [](const JobResult& job) {
    return job.status != Status::failed && job.status != Status::not_run;
  });
}

}  // namespace

Measured measure_device(const MeasurePlan& plan, const DeviceChoice& choice,
                        const std::function<void()>& on_progress) {
  DeviceResult result;
  result.node = plan.node;
  result.rank = plan.rank;
  const std::unique_ptr<Device> device = open_to_measure(plan, choice, result);
  std::string lost = result.reason;
  Shard shard = open_shard(plan, result);

  Reporter reporter(plan, result, on_progress);
  for (const Job* job : plan.jobs) {
    if (std::ranges::find(result.jobs, job->name, &JobResult::job) != result.jobs.end()) continue;
    if (stop_requested()) {
      result.reason = "stopped by a signal; --resume goes on";
      shard.suspend(result.reason);
      return {.device = std::move(result), .stopped_early = true};
    }
    reporter.begin(*job);
    result.jobs.push_back(measure_job(plan, *job, device.get(), result.jobs, reporter, lost));
    shard.append(result.jobs.back());
  }

  if (lost.empty()) result.after = device->health();
  result.status = is_whole(result) ? DeviceOutcome::complete : DeviceOutcome::incomplete;
  result.reason = lost;
  shard.finish(result);
  reporter.finish();
  return {.device = std::move(result)};
}

}  // namespace sonde
