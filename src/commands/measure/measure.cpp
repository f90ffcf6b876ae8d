// Opens the device, runs the jobs that are left on it, and writes each result into the shard.
#include "commands/measure/measure.hpp"

#include "analysis/metrics.hpp"
#include "base/deadline_factor.hpp"
#include "base/error.hpp"
#include "base/log.hpp"
#include "commands/measure/written_behind.hpp"
#include "device/some_sms.hpp"
#include "doctor/gpus.hpp"
#include "fleet/bind_cpu.hpp"
#include "mpi/collectives.hpp"
#include "store/output.hpp"
#include "store/shard.hpp"
#include "store/write_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace sonde {
namespace {

/// Creates a shard, or opens the one to continue; the jobs of that one are added to `result`.
Shard open_shard(const MeasurePlan& plan, const Task& task, DeviceResult& result) {
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
        if (runs) bases.emplace_back(base);  // a smaller suite may lack the job
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

/// Appends the result to the shard with its traces, and to `device` without them.
void keep(WrittenBehind& shard, DeviceResult& device, JobResult result) {
  std::vector<ProbeRecord> probes = std::exchange(result.probes, {});
  device.jobs.push_back(result);
  result.probes = std::move(probes);
  shard.append(std::move(result));
}

/// If jobs between the GPUs of the node are still to come, the device is incomplete until then.
void note_missing_links(const MeasurePlan& plan, DeviceResult& device) {
  const auto follows = std::ranges::find_if(plan.jobs, [&device](const Job* job) {
    return job->reach == JobReach::node && find_job(device.jobs, job->name) == nullptr;
  });
  if (follows == plan.jobs.end() || device.status != DeviceOutcome::complete) return;
  device.status = DeviceOutcome::incomplete;
  device.reason = fmt::format("job {}: the run ended before it", (*follows)->name);
}

void finish(const MeasurePlan& plan, const Task& task, WrittenBehind& shard, DeviceResult& device) {
  for (const Job* job : plan.jobs) {
    const bool is_left = job->reach == JobReach::node && !find_job(device.jobs, job->name);
    if (is_left && task.node_gpus.size() < 2) {
      keep(shard, device,
           job_without_links(*job,
                             "this run measures one GPU of the node (a link has two ends) "
                             "start a rank for each GPU of a node"));
    }
  }
  note_outcome(device);
  note_missing_links(plan, device);
  shard.get().finish(device);
}

const LostJob* find_lost(const Task& task, const Job& job) {
  const auto lost = std::ranges::find(task.lost_jobs, job.name, &LostJob::job);
  return lost == task.lost_jobs.end() ? nullptr : &*lost;
}

DeviceResult result_of(const Task& task) {
  DeviceResult result;
  result.node = node_name();
  result.rank = task.rank;
  result.info.uuid = task.device.uuid;
  return result;
}

/// True if an earlier run has measured the device completely at this point.
bool is_measured(const MeasurePlan& point, const std::string& uuid) {
  const auto shard = finished_shard(point.parts, uuid);
  try {
    if (!std::filesystem::exists(shard)) return false;
    const auto devices = read_finished(shard, point.provenance.config_hash);
    return devices.size() == 1 && devices.front().status == DeviceOutcome::complete;
  } catch (const StoreError&) {
    return false;  // open_shard replaces the damaged shard and logs the reason
  }
}

/// A device that is opened once for all points of a run.
class MeasuredDevice {
 public:
  MeasuredDevice(const RunPlan& run, Task task, const std::function<void(const Step&)>& on_step)
      : run_(run), task_(std::move(task)), on_step_(on_step), opened_(result_of(task_)) {}

  Report measure() {
    for (; task_.point < run_.points.size(); ++task_.point) {
      const MeasurePlan& plan = run_.points[task_.point];
      if (run_.is_sweep() && run_.options.resume && is_measured(plan, task_.device.uuid)) continue;
      if (run_.is_sweep() && !why_to_stop(plan).empty()) return report(ReportKind::stopped);
      make_point_folder(plan.parts, run_.points.size());
      Report ended = measure_point(plan);
      if (ended.kind != ReportKind::measured) return ended;
      task_.lost_jobs.clear();
      task_.resume = run_.options.resume;
    }
    return report(ReportKind::measured);
  }

 private:
  Report report(ReportKind kind) const { return {.kind = kind, .point = task_.point}; }

  Report measure_point(const MeasurePlan& plan) {
    Step step{.point = task_.point, .job = "", .jobs_done = plan.jobs_before, .begins = true};
    on_step_(step);
    DeviceResult result = open(plan);
    WrittenBehind shard(open_shard(plan, task_, result));
    std::vector<JobResult> known = earlier_results(plan);
    for (const Job* job : jobs_left(plan, known)) {
      const JobResult* done = find_job(result.jobs, job->name);
      if (done == nullptr) {
        if (const std::string why = why_to_stop(plan); !why.empty()) {
          shard.get().suspend(why + "; --resume goes on");
          return report(ReportKind::stopped);
        }
        step.job = job->name;
        step.jobs_done = plan.jobs_before + static_cast<int>(result.jobs.size());
        JobOutcome outcome = measure_job(plan, *job, result.reason, known, step);
        const std::string reason = outcome.result.reason;
        keep(shard, result, std::move(outcome.result));
        if (outcome.device_lost) {
          shard.get();
          Report lost = report(ReportKind::job_lost);
          lost.job = job->name;
          lost.reason = reason;
          return lost;
        }
        done = &result.jobs.back();
        share_result(plan, *done);
      }
      known.push_back(*done);
    }
    if (device_) result.after = device_->health();
    finish(plan, task_, shard, result);
    return report(ReportKind::measured);
  }

  /// Opens the device the first time; returns its state at the start of a point.
  DeviceResult open(const MeasurePlan& plan) {
    if (!tried_) device_ = open_to_measure(plan, task_.device, opened_);
    tried_ = true;
    DeviceResult result = opened_;
    if (!device_) return result;
    result.before = device_->health();
    for (; draws_ < plan.repeat_index; ++draws_) device_->draw_anew();
    return result;
  }

  /// @param why_not the reason why nothing can be measured; empty: measure
  JobOutcome measure_job(const MeasurePlan& plan, const Job& job, const std::string& why_not,
                         const std::vector<JobResult>& known, Step step) {
    if (const LostJob* lost = find_lost(task_, job))
      return {job_without_answers(job, Status::failed, lost->reason)};
    if (!why_not.empty()) return {job_without_answers(job, Status::not_run, why_not)};
    on_step_(step);
    step.begins = false;
    return run_planned(plan, job, *device_, plan.seed, known, [&] { on_step_(step); });
  }

  /// Results of earlier points, without traces, as far as those points could measure the job.
  std::vector<JobResult> earlier_results(const MeasurePlan& plan) {
    std::vector<JobResult> taken;
    for (const TakenJob& one : plan.taken) {
      const auto [place, is_new] = read_.try_emplace(one.point);
      const MeasurePlan& from = run_.points[one.point];
      const auto shard = finished_shard(from.parts, task_.device.uuid);
      if (is_new && std::filesystem::exists(shard))
        place->second = read_finished(shard, from.provenance.config_hash);
      for (const DeviceResult& device : place->second) {
        const JobResult* job = find_job(device.jobs, one.job->name);
        if (job != nullptr && is_final(*job)) taken.push_back(*job);
      }
    }
    return taken;
  }

  /// If an earlier point could not measure a job but this one did, later points take this result.
  void share_result(const MeasurePlan& plan, const JobResult& done) {
    const auto taken =
        std::ranges::find(plan.taken, done.job, [](const TakenJob& one) { return one.job->name; });
    if (taken == plan.taken.end()) return;
    for (DeviceResult& device : read_[taken->point]) {
      const auto old = std::ranges::find(device.jobs, done.job, &JobResult::job);
      if (old != device.jobs.end()) *old = done;
    }
  }

  /// The jobs to measure, in running order.
  static std::vector<const Job*> jobs_left(const MeasurePlan& plan,
                                           const std::vector<JobResult>& known) {
    std::vector<const Job*> jobs = plan.jobs;
    for (const TakenJob& one : plan.taken) {
      if (find_job(known, one.job->name) == nullptr) jobs.push_back(one.job);
    }
    std::erase_if(jobs, [](const Job* job) { return job->reach != JobReach::gpu; });
    std::ranges::sort(jobs);  // pointers into one array, all_jobs(): sorted by place in the suite
    return jobs;
  }

  const RunPlan& run_;
  Task task_;
  const std::function<void(const Step&)>& on_step_;
  DeviceResult opened_;
  std::unique_ptr<Device> device_;
  bool tried_ = false;
  std::uint64_t draws_ = 0;
  std::map<std::size_t, std::vector<DeviceResult>> read_;  // results of earlier points, by point
};

}  // namespace

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
  log_world(bind_near_device(info.pci_bus_id, Bound::process));
  return device;
}

JobOutcome run_planned(const MeasurePlan& plan, const Job& job, Device& device, std::uint64_t seed,
                       const std::vector<JobResult>& earlier, const std::function<void()>& on_probe,
                       const NodeGpus& node) {
  std::unique_ptr<Device> some;
  try {
    if (plan.is_on_some_sms(job)) some = limit_to_sms(device, plan.sms);
  } catch (const DeviceError& error) {  // this GPU has fewer SMs than another GPU of the run
    return {job_without_answers(job, Status::not_present, error.what())};
  }
  return run_job(job, some ? *some : device, plan.level, seed, earlier,
                 plan.options.job_timeout_s * deadline_factor(), on_probe, plan.settings_of(job),
                 node);
}

void note_outcome(DeviceResult& device) {
  const auto failed = std::ranges::find_if(device.jobs, [](const JobResult& job) {
    return job.status == Status::failed || job.status == Status::not_run;
  });
  const bool whole = failed == device.jobs.end();
  device.status = whole ? DeviceOutcome::complete : DeviceOutcome::incomplete;
  if (whole) {
    device.reason.clear();  // losing a worker after the last job does no harm
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

JobResult job_without_links(const Job& job, const std::string& reason) {
  JobResult result = job_without_answers(job, Status::not_resolvable, reason);
  result.status = Status::ok;
  result.reason.clear();
  return result;
}

Report measure_device(const RunPlan& run, const Task& task,
                      const std::function<void(const Step&)>& on_step) {
  return MeasuredDevice(run, task, on_step).measure();
}

void give_up_device(const RunPlan& run, const Task& task, const std::string& reason,
                    const std::function<void()>& on_point) {
  const std::size_t end = run.fills_budget() ? task.point + 1 : run.points.size();
  for (Task at = task; at.point < end; ++at.point) {
    on_point();
    const MeasurePlan& plan = run.points[at.point];
    make_point_folder(plan.parts, run.points.size());
    DeviceResult result = result_of(task);
    result.reason = reason;
    WrittenBehind shard(open_shard(plan, at, result));
    for (const Job* job : plan.jobs) {
      if (job->reach != JobReach::gpu || find_job(result.jobs, job->name) != nullptr) continue;
      const LostJob* lost = find_lost(at, *job);
      const Status status = lost != nullptr ? Status::failed : Status::not_run;
      keep(shard, result, job_without_answers(*job, status, lost ? lost->reason : reason));
    }
    finish(plan, at, shard, result);
    at.lost_jobs.clear();
    at.resume = run.options.resume;
  }
}

}  // namespace sonde
