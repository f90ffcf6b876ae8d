#include "commands/measure.hpp"

#include "base/error.hpp"
#include "base/log.hpp"
#include "fleet/bind_cpu.hpp"
#include "fleet/mpi_session.hpp"
#include "fleet/progress.hpp"
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

JobResult unreached_job(const Job& job, const std::string& reason) {
  JobResult result;
  result.job = job.name;
  result.status = Status::not_run;
  result.reason = reason;
  return result;
}

bool is_whole(const DeviceResult& device) {
  return std::all_of(device.jobs.begin(), device.jobs.end(), [](const JobResult& job) {
    return job.status != Status::failed && job.status != Status::not_run;
  });
}

std::unique_ptr<Device> try_open(const MeasurePlan& plan, const Config& config,
                                 const DeviceChoice& choice, DeviceResult& result) {
  try {
    auto device = open_device(plan.backend, choice, config.seed);
    const std::string sharing = find_sharing(device->info());
    if (sharing.empty() || config.allow_shared_gpu) return device;
    result.info = device->info();
    result.reason = sharing + " free it, or use --allow-shared-gpu";
  } catch (const DeviceError& error) {
    result.info.uuid = choice.uuid;
    result.reason = error.what();
  }
  return nullptr;
}

}  // namespace

Measured measure_device(const MeasurePlan& plan, const Config& config, const DeviceChoice& choice,
                        const std::function<void()>& on_progress) {
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  Measured measured;
  DeviceResult& result = measured.device;
  result.node = plan.node;
  result.rank = plan.rank;
  result.status = "incomplete";

  const auto device = try_open(plan, config, choice, result);
  std::string lost = device ? "" : result.reason;
  if (device) {
    result.info = device->info();
    log_world(bind_near_device(result.info.pci_bus_id));
    result.before = device->health();
  }

  auto [shard, done, note] =
      config.resume ? Shard::resume(plan.parts, result.info, plan.provenance, plan.node, plan.rank)
                    : ResumedShard{Shard::create(plan.parts, result.info, plan.provenance,
                                                 plan.node, plan.rank),
                                   {},
                                   ""};
  if (!note.empty()) log_local(note);
  shard.set_health_before(result.before);
  result.jobs = std::move(done);

  ProgressFile progress_file(plan.parts, plan.rank);
  Progress progress;
  progress.rank = plan.rank;
  progress.ranks = plan.ranks;
  progress.node = plan.node;
  progress.uuid = result.info.uuid;
  progress.jobs_total = static_cast<int>(plan.jobs.size());
  const auto tell = [&] {
    progress.elapsed_s = std::chrono::duration<double>(Clock::now() - start).count();
    progress.jobs_done = static_cast<int>(result.jobs.size());
    progress_file.update(progress);
    if (on_progress) on_progress();
  };

  for (const Job* job : plan.jobs) {
    const bool is_done =
        std::any_of(result.jobs.begin(), result.jobs.end(),
                    [job](const JobResult& earlier) { return earlier.job == job->name; });
    if (is_done) continue;
    if (stop_requested()) {
      measured.stopped_early = true;
      break;
    }
    progress.job = job->name;
    tell();
    if (lost.empty()) {
      JobOutcome outcome =
          run_job(*job, *device, plan.level, config.seed, result.jobs, config.job_timeout_s, [&] {
            ++progress.probes_done;
            tell();
          });
      if (outcome.device_lost)
        lost =
            "the device was lost in job " + std::string(job->name) + ": " + outcome.result.reason;
      result.jobs.push_back(std::move(outcome.result));
    } else {
      result.jobs.push_back(unreached_job(*job, lost));
    }
    shard.append(result.jobs.back());
  }

  if (measured.stopped_early) {
    result.reason = "stopped by a signal; --resume goes on";
    shard.suspend(result.reason);
    return measured;
  }
  if (device && lost.empty()) result.after = device->health();
  shard.set_health_after(result.after);
  if (is_whole(result)) result.status = "complete";
  if (!lost.empty()) result.reason = lost;
  shard.finish(result.status, result.reason);
  progress.state = RankState::done;
  progress.job.clear();
  tell();
  return measured;
}

}  // namespace sonde
