// Opens the device, runs the jobs that are left on it, and writes each into the shard, from which
// finish.cpp takes it.
#include "commands/measure/measure.hpp"

#include "analysis/metrics.hpp"
#include "base/deadline_factor.hpp"
#include "base/error.hpp"
#include "base/log.hpp"
#include "base/stop_signal.hpp"
#include "device/some_sms.hpp"
#include "doctor/gpus.hpp"
#include "fleet/bind_cpu.hpp"
#include "mpi/collectives.hpp"
#include "store/shard.hpp"
#include "store/write_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <future>
#include <utility>

namespace sonde {
namespace {

/// A new shard, or the one to go on with, whose jobs come back in `result`.
Shard open_shard(const MeasurePlan& plan, const Task& task, DeviceResult& result) {
  remove_digest(finished_shard(plan.parts, task.device.uuid));
  if (!task.resume) return Shard::create(plan.parts, result, plan.provenance);
  ResumeFrom from;
  if (plan.options.resume) from.run = plan.options.output;
  for (const LostJob& lost : task.lost_jobs) from.keep.push_back(lost.job);
  from.builds_on = [&plan](const std::string& name) {
    std::vector<std::string> bases;
    for (const Job* job : plan.jobs) {
      if (job->name != name) continue;
      for (const std::string_view base : job->builds_on) {
        const bool runs = std::ranges::find(plan.jobs, base, &Job::name) != plan.jobs.end();
        if (runs) bases.emplace_back(base);  // a smaller suite may lack it
      }
    }
    return bases;
  };
  ResumedShard resumed = Shard::resume(plan.parts, result, plan.provenance, from);
  log_local(resumed.note);
  result.jobs = std::move(resumed.done);
  result.again = std::move(resumed.again);
  return std::move(resumed.shard);
}

/// What is written of a job, in rows of one window: a lane has a row of its own, as long as ten.
std::size_t count_rows(const JobResult& result) {
  constexpr std::size_t windows_of_a_lane = 10;
  std::size_t count = 0;
  for (const ProbeRecord& probe : result.probes) {
    for (const LaneTrace& lane : probe.trace.lanes) {
      count += windows_of_a_lane + lane.window_cycles.size();
    }
  }
  return count;
}

/// Of a job with fewer rows than this the writing takes some hundredths of a second, and a crash of
/// the next job shall not cost it. A longer one is lost if the next job crashes before it is
/// written; another worker then measures it again.
constexpr std::size_t long_record = 500'000;

/// A shard that one thread at a time writes into: a job with long records while the next one is
/// measured. HDF5 bears no two threads, so whoever needs the shard waits for that write.
class WrittenBehind {
 public:
  explicit WrittenBehind(Shard shard) : shard_(std::move(shard)) {}

  /// @throws StoreError if a job before could not be written
  void append(JobResult result) {
    get();
    if (count_rows(result) < long_record) return shard_.append(result);
    writing_ =
        std::async(std::launch::async, [this, job = std::move(result)] { shard_.append(job); });
  }

  /// All that was appended is in the shard. @throws StoreError if it is not
  Shard& get() {
    if (writing_.valid()) writing_.get();
    return shard_;
  }

 private:
  Shard shard_;
  std::future<void> writing_;  // after the shard: it ends first
};

/// Into the shard with its traces, into memory without them.
void keep(WrittenBehind& shard, DeviceResult& device, JobResult result) {
  std::vector<ProbeRecord> probes = std::exchange(result.probes, {});
  device.jobs.push_back(result);
  result.probes = std::move(probes);
  shard.append(std::move(result));
}

/// Jobs over the node follow, when all its GPUs have come so far. Until then the shard says so.
void note_what_follows(const MeasurePlan& plan, DeviceResult& device) {
  const auto follows = std::ranges::find_if(plan.jobs, [&device](const Job* job) {
    return job->reach == JobReach::node && find_job(device.jobs, job->name) == nullptr;
  });
  if (follows == plan.jobs.end() || device.status != DeviceOutcome::complete) return;
  device.status = DeviceOutcome::incomplete;
  device.reason = fmt::format("job {}: the run ended before it", (*follows)->name);
}

void finish(const MeasurePlan& plan, WrittenBehind& shard, DeviceResult& device) {
  note_outcome(device);
  note_what_follows(plan, device);
  shard.get().finish(device);
  write_digest(finished_shard(plan.parts, device.info.uuid), device, plan.provenance.config_hash);
}

const LostJob* find_lost(const Task& task, const Job& job) {
  const auto lost = std::ranges::find(task.lost_jobs, job.name, &LostJob::job);
  return lost == task.lost_jobs.end() ? nullptr : &*lost;
}

}  // namespace

int RunPlan::jobs_total() const {
  return points.back().jobs_before + static_cast<int>(points.back().jobs.size());
}

std::size_t RunPlan::points_of_repeat() const {
  return static_cast<std::size_t>(std::ranges::count(points, 0U, &MeasurePlan::repeat_index));
}

JobSettings MeasurePlan::settings_of(const Job& job) const {
  const auto own = settings.find(std::string(job.name));
  return own == settings.end() ? JobSettings{} : own->second;
}

std::string why_to_stop(const MeasurePlan& plan) {
  if (stop_requested()) return "stopped by a signal";
  const bool is_over = plan.end && std::chrono::steady_clock::now() > *plan.end;
  return is_over ? "the time budget is over" : "";
}

std::unique_ptr<Device> open_to_measure(const MeasurePlan& plan, const DeviceChoice& choice,
                                        DeviceResult& result) {
  std::unique_ptr<Device> device;
  try {
    device = open_device(plan.backend, choice, plan.device_seed,
                         static_cast<double>(plan.options.memory_percent) / 100);
  } catch (const DeviceError& error) {
    result.reason = error.what();
    return nullptr;
  }
  result.info = device->info();
  const DeviceInfo& info = result.info;
  const std::string sharing = describe_sharing(info.mig, info.mps, info.foreign_processes);
  if (!sharing.empty() && !plan.options.allow_shared_gpu) {
    result.reason = sharing + " free it, or use --allow-shared-gpu";
    return nullptr;
  }
  const std::string note = bind_near_device(result.info.pci_bus_id);
  if (plan.jobs_before == 0) log_world(note);  // the same at every point
  result.before = device->health();
  for (std::uint64_t i = 0; i < plan.repeat_index; ++i) device->draw_anew();
  if (plan.sms.empty()) return device;
  try {
    return limit_to_sms(std::move(device), plan.sms);
  } catch (const DeviceError& error) {
    result.reason = error.what();
    return nullptr;
  }
}

void note_outcome(DeviceResult& device) {
  const auto failed = std::ranges::find_if(device.jobs, [](const JobResult& job) {
    return job.status == Status::failed || job.status == Status::not_run;
  });
  const bool whole = failed == device.jobs.end();
  device.status = whole ? DeviceOutcome::complete : DeviceOutcome::incomplete;
  if (whole) {
    device.reason.clear();  // a worker lost after its last job costs nothing
  } else if (device.reason.empty()) {
    device.reason = fmt::format("job {}: {}", failed->job, failed->reason);
  }
}

JobResult job_without_answers(const Job& job, Status status, const std::string& reason) {
  JobResult result;
  result.job = job.name;
  result.status = status;
  result.reason = reason;
  if (status == Status::not_run) return result;
  for (const Metric& metric : all_metrics()) {
    if (metric.job != job.name) continue;
    result.findings.push_back(no_answer(std::string(metric.name), status, reason));
  }
  return result;
}

Report measure_device(const MeasurePlan& plan, const Task& task,
                      const std::function<void(const Step&)>& on_step,
                      const std::string& given_up) {
  DeviceResult result;
  result.info.uuid = task.device.uuid;
  result.node = node_name();
  result.rank = task.rank;
  result.reason = given_up;
  const std::unique_ptr<Device> device =
      given_up.empty() ? open_to_measure(plan, task.device, result) : nullptr;
  WrittenBehind shard(open_shard(plan, task, result));
  for (const Job* job : plan.jobs) {
    if (job->reach != JobReach::gpu || find_job(result.jobs, job->name) != nullptr) continue;
    if (const std::string why = why_to_stop(plan); given_up.empty() && !why.empty()) {
      shard.get().suspend(why + "; --resume goes on");
      return {.kind = ReportKind::stopped};
    }
    if (const LostJob* lost = find_lost(task, *job)) {
      keep(shard, result, job_without_answers(*job, Status::failed, lost->reason));
      continue;
    }
    if (!device) {
      keep(shard, result, job_without_answers(*job, Status::not_run, result.reason));
      continue;
    }
    Step step{.job = job->name,
              .jobs_done = plan.jobs_before + static_cast<int>(result.jobs.size()),
              .begins = true};
    on_step(step);
    step.begins = false;
    JobOutcome outcome = run_job(
        *job, *device, plan.level, plan.seed, result.jobs,
        plan.options.job_timeout_s * deadline_factor(), [&] { on_step(step); },
        plan.settings_of(*job));
    const std::string reason = outcome.result.reason;
    keep(shard, result, std::move(outcome.result));
    if (outcome.device_lost) {
      shard.get();
      return {.kind = ReportKind::job_lost, .job = std::string(job->name), .reason = reason};
    }
  }
  if (device) result.after = device->health();
  finish(plan, shard, result);
  return {.kind = ReportKind::measured};
}

}  // namespace sonde
