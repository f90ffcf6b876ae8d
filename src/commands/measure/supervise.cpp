#include "commands/measure/supervise.hpp"

#include "base/deadline_factor.hpp"
#include "base/error.hpp"
#include "base/log.hpp"
#include "base/stop_signal.hpp"
#include "commands/measure/late_jobs.hpp"

#include <fmt/format.h>

#include <chrono>
#include <optional>

namespace sonde {
namespace {

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

// Without persistence mode the driver needs some 2 s for each GPU of a node to list them.
const Seconds list_limit = Seconds(30) * deadline_factor();
// A probe takes seconds at most; the longest computation between two probes took some 10 s.
const Seconds silence_limit = Seconds(180) * deadline_factor();
// A job that is over its time ends at its next probe.
constexpr Seconds job_margin{60};
// From SIGKILL to the end of a process: 0.1 s with a kernel spinning on all SMs of an H200.
constexpr Seconds kill_limit{20};
// The GPU is given up after this number of lost workers at one point,
constexpr int most_workers = 4;
// or after this number in a row that were lost before their first job.
constexpr int most_without_job = 2;
constexpr auto poll_pause = std::chrono::milliseconds(50);
// Time that the running job may still take after a stop request. Slurm sends SIGKILL 30 s after
// SIGTERM, and the ranks must meet before; a warning (SIGUSR1) comes minutes before.
const Seconds urgent_stop_limit = Seconds(10) * deadline_factor();
const Seconds stop_limit = Seconds(60) * deadline_factor();
// Reading the findings of a device takes some 4 ms (10,000 devices: 40 s).
const Seconds judge_limit = Seconds(60) * deadline_factor();
// A worker whose time is over ends at its next probe, and probes take seconds at most.
constexpr Seconds bounded_margin{15};

/// The time limits of a worker.
struct Limits {
  Seconds silence = silence_limit;
  Seconds job = Seconds::max();
  Seconds all = Seconds::max();
  bool ends_by_signal = false;  // kill the worker if its job does not end soon after a stop signal
};

/// Watches one started worker until its end.
class Watch {
 public:
  /// @param progress ticks while this waits; may be nullptr
  /// @param point the point at which the worker begins
  Watch(Keeper& keeper, Limits limits, RankProgress* progress, std::size_t point = 0)
      : keeper_(keeper), limits_(limits), progress_(progress), point_(point) {}

  /// The last report of the worker; if it died before, `job_lost` with the job and the cause.
  Report wait() {
    while (true) {
      if (progress_) progress_->tick();
      if (stop_requested() && !told_to_stop_at_) {
        keeper_.stop();
        told_to_stop_at_ = Clock::now();
        if (limits_.ends_by_signal) {
          log_world(fmt::format("stop requested: the current job has up to {:.0f} s to end",
                                (stop_is_urgent() ? urgent_stop_limit : stop_limit).count()));
        }
      }
      if (stop_is_urgent() && !urgent_since_) urgent_since_ = Clock::now();
      if (!killed_at_) check_deadlines();
      if (killed_at_ && Clock::now() - *killed_at_ > kill_limit) {
        unkillable_ = true;
        return lost("; it cannot be killed: it hangs in the driver");
      }
      const auto event = keeper_.next(poll_pause);
      if (!event) continue;
      if (event->ended) return lost(event->end);
      take(report_from_json(event->said));
    }
  }
  bool unkillable() const { return unkillable_; }

 private:
  void take(const Report& report) {
    heard_ = Clock::now();
    if (report.kind != ReportKind::progress) {
      last_ = report;
      return;
    }
    if (report.job != job_ || report.point != point_) job_began_ = heard_;
    job_ = report.job;
    point_ = report.point;
    if (progress_ && !job_.empty())
      progress_->update(report.job, report.jobs_done, report.probes_done);
  }

  void check_deadlines() {
    const auto now = Clock::now();
    if (last_) {
      if (now - heard_ > kill_limit) kill("");
    } else if (now - heard_ > limits_.silence) {
      kill(
          fmt::format("gave no sign of life for {:.0f} s and was killed", limits_.silence.count()));
    } else if (!job_.empty() && now - job_began_ > limits_.job) {
      kill(fmt::format("was still at work after {:.0f} s and was killed", limits_.job.count()));
    } else if (now - began_ > limits_.all) {
      kill(fmt::format("was still at work after {:.0f} s and was killed", limits_.all.count()));
    } else if (limits_.ends_by_signal && is_stop_overdue(now)) {
      given_up_by_signal_ = true;
      kill("");
    }
  }

  bool is_stop_overdue(Clock::time_point now) const {
    return (told_to_stop_at_ && now - *told_to_stop_at_ > stop_limit) ||
           (urgent_since_ && now - *urgent_since_ > urgent_stop_limit);
  }

  void kill(std::string why) {
    why_killed_ = std::move(why);
    keeper_.kill();
    killed_at_ = Clock::now();
  }

  Report lost(const std::string& end) const {
    if (last_) return *last_;
    if (given_up_by_signal_) {
      const std::string what = job_.empty() ? "opening the GPU" : "the job " + job_;
      log_local(fmt::format("{} did not end soon after the signal: it is left for --resume", what));
      return {.kind = ReportKind::stopped, .point = point_};
    }
    return {.kind = ReportKind::job_lost,
            .point = point_,
            .job = job_,
            .reason = fmt::format("the worker process {}",
                                  killed_at_ ? why_killed_ + (unkillable_ ? end : "") : end)};
  }

  Keeper& keeper_;
  Limits limits_;
  RankProgress* progress_;
  std::size_t point_;
  std::string job_;
  const Clock::time_point began_ = Clock::now();
  Clock::time_point heard_ = began_;
  Clock::time_point job_began_ = began_;
  std::optional<Report> last_;
  std::optional<Clock::time_point> told_to_stop_at_;
  std::optional<Clock::time_point> urgent_since_;
  bool given_up_by_signal_ = false;
  std::optional<Clock::time_point> killed_at_;
  std::string why_killed_;
  bool unkillable_ = false;
};

Watch start_worker(Keeper& keeper, const Task& task, Limits limits, RankProgress& progress) {
  keeper.start(to_json(task));
  return {keeper, limits, &progress, task.point};
}

/// No worker can measure the GPU any more; writes its shards without touching it.
Supervised give_up(const RunPlan& run, const Task& task, const std::string& reason,
                   RankProgress& progress) {
  log_local(fmt::format("{} is given up: {}", task.device.uuid, reason));
  try {
    give_up_device(run, task, reason, [&progress] { progress.tick(); });
  } catch (const Error& error) {
    return {.failure = error.what()};
  }
  return {.given_up = true};
}

}  // namespace

void ask_devices(Keeper& keeper, int rank) {
  keeper.start(to_json({.kind = TaskKind::list_devices, .rank = rank}));
}

std::vector<DeviceChoice> hear_devices(Keeper& keeper) {
  const Report report = Watch(keeper, {.all = list_limit}, nullptr).wait();
  if (report.kind == ReportKind::devices) return report.devices;
  if (report.kind == ReportKind::failed) throw DeviceError(report.reason);
  throw DeviceError(fmt::format(
      "the driver did not list its GPUs ({}) look at nvidia-smi and dmesg", report.reason));
}

Supervised supervise(const RunPlan& run, Task task, Keeper& keeper, RankProgress& progress) {
  const Seconds job_limit = Seconds(run.options.job_timeout_s) * deadline_factor() + job_margin;
  int without_job = 0;
  for (int workers = 1;; ++workers) {
    Watch watch = start_worker(keeper, task, {.job = job_limit, .ends_by_signal = true}, progress);
    const Report report = watch.wait();
    switch (report.kind) {
      case ReportKind::measured: return {};
      case ReportKind::stopped: return {.stopped_early = true};
      case ReportKind::failed: return {.failure = report.reason};
      default: break;
    }
    if (report.point > task.point) {
      task.point = report.point;
      task.lost_jobs.clear();
      workers = 1;
      without_job = 0;
    }
    task.resume = true;
    without_job = report.job.empty() ? without_job + 1 : 0;
    if (!report.job.empty()) task.lost_jobs.push_back({report.job, report.reason});
    if (workers == most_workers || without_job == most_without_job || watch.unkillable()) {
      return give_up(
          run, task,
          fmt::format("{} worker process(es) were lost on it, the last one {}: {}", workers,
                      report.job.empty() ? "at its start" : "in " + report.job, report.reason),
          progress);
    }
    log_local(fmt::format("the worker process was lost in {} ({}): a new one continues",
                          report.job.empty() ? "opening " + task.device.uuid : "job " + report.job,
                          report.reason));
  }
}

Report judge(Keeper& keeper, const Task& task, RankProgress& progress) {
  Report report = start_worker(keeper, task, {.all = judge_limit}, progress).wait();
  if (report.kind != ReportKind::finished) {
    log_local(fmt::format("the shards were not compared, and nothing is measured again: {}",
                          report.reason));
  }
  return report;
}

void supervise_late(const MeasurePlan& plan, const Task& task, Keeper& keeper,
                    RankProgress& progress) {
  const bool again = task.kind == TaskKind::measure_again;
  const Seconds limit = Seconds(task.limit_s) * deadline_factor() + bounded_margin;
  const Report report = start_worker(keeper, task, {.all = limit}, progress).wait();
  if (report.kind == ReportKind::measured) return;
  log_local(fmt::format("{}: {}",
                        again ? task.device.uuid + " was not measured again"
                              : "the links of this node were not measured",
                        report.reason));
  if (again && report.kind == ReportKind::failed) return;  // the shard cannot be written
  try {
    measure_late(plan, task, {}, report.reason);
  } catch (const Error& error) {
    log_local(error.what());
  }
}

Report delegate(Keeper& keeper, const Task& task, RankProgress& progress) {
  Report report = start_worker(keeper, task, {.silence = Seconds::max()}, progress).wait();
  if (report.kind == ReportKind::finished) return report;
  log_local(report.kind == ReportKind::failed
                ? report.reason
                : fmt::format("{}: no results were written (the shards are kept) run 'sonde merge' "
                              "on the .parts folder",
                              report.reason));
  return {.kind = ReportKind::failed, .exit_status = ExitStatus::error};
}

}  // namespace sonde
