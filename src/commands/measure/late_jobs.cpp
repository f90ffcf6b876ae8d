// Second tries draw other random numbers than the first ones. GPUs of a node take turns, and then
// work at once. What both found joins the shards.
#include "commands/measure/late_jobs.hpp"

#include "base/deadline_factor.hpp"
#include "base/error.hpp"
#include "base/random.hpp"
#include "base/stop_signal.hpp"
#include "fleet/progress.hpp"
#include "fleet/turns.hpp"
#include "store/shard.hpp"
#include "store/write_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>

namespace sonde {
namespace {

using Clock = std::chrono::steady_clock;
using OnStep = std::function<void(const Step&)>;

bool is_again(const Task& task) { return task.kind == TaskKind::measure_again; }

DeviceResult read_measured(const MeasurePlan& plan, const Task& task) {
  return read_own_shard(finished_shard(plan.parts, task.device.uuid), Depth::probes);
}

/// Those of the task, in its order, or those between GPUs that the device has not been through.
std::vector<const Job*> jobs_of(const MeasurePlan& plan, const Task& task,
                                const DeviceResult& device) {
  std::vector<const Job*> jobs;
  for (const std::string& name : task.again_jobs) {
    const auto found = std::ranges::find(plan.jobs, name, &Job::name);
    if (found == plan.jobs.end()) throw Error("no job of this run is called " + name);
    jobs.push_back(*found);
  }
  if (is_again(task)) return jobs;
  for (const Job* job : plan.jobs) {
    const bool done = find_job(device.jobs, job->name) != nullptr;
    if (job->reach == JobReach::node && !done) jobs.push_back(job);
  }
  return jobs;
}

void add_to_shard(const MeasurePlan& plan, const Task& task, DeviceResult device,
                  std::vector<JobResult> jobs) {
  Shard shard = Shard::extend(plan.parts, device);
  if (is_again(task)) {
    for (const JobResult& job : jobs) shard.append_again(job);
    return shard.finish(device);
  }
  note_outcome(device);  // as it is without them: it waits for them no longer
  for (JobResult& job : jobs) {
    shard.append(job);
    job.probes.clear();
    device.jobs.push_back(std::move(job));
  }
  note_outcome(device);
  const auto path = finished_shard(plan.parts, device.info.uuid);
  remove_digest(path);
  shard.finish(device);
  write_digest(path, device, plan.provenance.config_hash);
}

/// Runs jobs one after the other until a signal comes, the time is over or the device is lost: then
/// all that are left fail for that reason.
class LateRun {
 public:
  LateRun(const Task& task, int jobs_done, const OnStep& on_step)
      : limit_s_(task.limit_s), step_{.job = "", .jobs_done = jobs_done}, on_step_(on_step) {}

  void give_up(const std::string& reason) { over_ = reason; }
  bool is_over() const { return !over_.empty(); }

  /// To be called at each probe, and while other GPUs are waited for. @throws Error to end the job
  void go_on(bool waits) {
    step_.waits = waits;
    on_step_(step_);
    if (stop_requested()) over_ = "stopped by a signal";
    if (Clock::now() - begin_ > std::chrono::duration<double>(limit_s_ * deadline_factor())) {
      over_ = fmt::format("not over after {:.0f} s", limit_s_);
    }
    if (is_over()) throw Error(over_);
  }

  JobResult run(const Job& job, const std::function<JobOutcome()>& measure) {
    if (is_over()) return job_without_answers(job, Status::failed, over_);
    step_.job = job.name;
    step_.begins = true;
    on_step_(step_);
    step_.begins = false;
    JobOutcome outcome = measure();
    if (outcome.device_lost) over_ = outcome.result.reason;
    return std::move(outcome.result);
  }

 private:
  const Clock::time_point begin_ = Clock::now();
  double limit_s_;
  Step step_;
  const OnStep& on_step_;
  std::string over_;  // why no further job can run
};

std::vector<JobResult> measure_again(const MeasurePlan& plan, const Task& task,
                                     const DeviceResult& first, const std::vector<const Job*>& jobs,
                                     LateRun& late) {
  DeviceResult opened;
  const std::unique_ptr<Device> device =
      late.is_over() ? nullptr : open_to_measure(plan, task.device, opened);
  if (device) device->draw_anew();
  if (!late.is_over()) late.give_up(opened.reason);
  std::vector<JobResult> results;
  for (const Job* job : jobs) {
    std::vector<JobResult> others = first.jobs;  // what the job builds on, not its own findings
    std::erase_if(others, [job](const JobResult& one) { return one.job == job->name; });
    results.push_back(late.run(*job, [&] {
      return run_planned(plan, *job, *device, derive_seed(plan.seed, "measured again"), others,
                         [&] { late.go_on(false); });
    }));
  }
  return results;
}

/// How long ranks of a node wait for each other in this run.
TurnLimits turn_limits(const MeasurePlan& plan) {
  TurnLimits limits;
  limits.silence_s = plan.options.rendezvous_timeout_s;
  for (double* limit_s : {&limits.ready_s, &limits.start_s, &limits.turn_s}) {
    *limit_s *= deadline_factor();
  }
  return limits;
}

/// @param turns must outlive it
NodeGpus node_of(const Task& task, Turns& turns) {
  NodeGpus node;
  node.gpus = task.node_gpus;
  const auto own = std::ranges::find(node.gpus, task.device.uuid, &NodeGpu::uuid);
  node.own = static_cast<std::size_t>(own - node.gpus.begin());
  node.turns = {.begin = [&turns] { return turns.begin(); },
                .end = [&turns] { return turns.end(); },
                .meet = [&turns] { return turns.meet(); },
                .compare = [&turns](TimeSpan own_span) { return turns.compare(own_span); }};
  return node;
}

/// With the GPUs that it can reach; other processes on it are now those of its peers. What could
/// not be opened before, or must not be used, is left alone.
std::unique_ptr<Device> open_with_peers(const MeasurePlan& plan, const Task& task,
                                        const DeviceResult& before, LateRun& late) {
  if (late.is_over()) return nullptr;
  const auto was_run = [](const JobResult& job) { return job.status != Status::not_run; };
  if (!before.jobs.empty() && std::ranges::none_of(before.jobs, was_run)) {
    late.give_up(before.reason);
    return nullptr;
  }
  std::vector<NodeGpu> peers;
  for (const NodeGpu& gpu : task.node_gpus) {
    if (gpu.uuid != task.device.uuid && gpu.reachable) peers.push_back(gpu);
  }
  try {
    return open_device(plan.backend, task.device, plan.device_seed,
                       static_cast<double>(plan.options.memory_percent) / 100, peers);
  } catch (const DeviceError& error) {
    late.give_up(error.what());
    return nullptr;
  }
}

std::vector<JobResult> measure_together(const MeasurePlan& plan, const Task& task,
                                        const DeviceResult& before,
                                        const std::vector<const Job*>& jobs, LateRun& late) {
  std::vector<JobResult> results;
  const std::unique_ptr<Device> device = open_with_peers(plan, task, before, late);
  std::vector<int> ranks;
  for (const NodeGpu& gpu : task.node_gpus) ranks.push_back(gpu.rank);
  const Lookout watch{.sign_of_life = [&plan](int rank) { return progress_beat(plan.parts, rank); },
                      .on_poll = [&late] { late.go_on(true); }};
  for (const Job* job : jobs) {
    results.push_back(late.run(*job, [&] {
      Turns turns(plan.parts, std::string(job->name), ranks, task.rank, turn_limits(plan), watch);
      return run_planned(
          plan, *job, *device, plan.seed, before.jobs, [&] { late.go_on(false); },
          node_of(task, turns));
    }));
  }
  return results;
}

}  // namespace

NodeView view_node(const std::vector<RankView>& views, const Assignment& assignment, int rank,
                   const BackendChoice& backend, const std::vector<DeviceChoice>& visible) {
  NodeView node;
  std::map<int, std::size_t> gpus;  // by machine
  for (std::size_t other = 0; other < views.size(); ++other) {
    const auto& uuid = assignment.uuid_of_rank[other];
    if (!uuid) continue;
    const int machine = views[other].machine;
    node.most_gpus = std::max(node.most_gpus, ++gpus[machine]);
    if (machine != views[static_cast<std::size_t>(rank)].machine) continue;
    node.gpus.push_back({.uuid = *uuid,
                         .rank = static_cast<int>(other),
                         .reachable = can_reach(backend, visible, *uuid)});
  }
  return node;
}

bool has_jobs_together(const MeasurePlan& plan) {
  return std::ranges::any_of(plan.jobs,
                             [](const Job* job) { return job->reach == JobReach::node; });
}

void leave_node(const MeasurePlan& plan, int rank) {
  for (const Job* job : plan.jobs) {
    if (job->reach == JobReach::node) leave_turns(plan.parts, std::string(job->name), rank);
  }
}

void measure_late(const MeasurePlan& plan, const Task& task, const OnStep& on_step,
                  const std::string& given_up) {
  const DeviceResult before = read_measured(plan, task);
  const std::vector<const Job*> jobs = jobs_of(plan, task, before);
  if (jobs.empty()) return;
  LateRun late(task, static_cast<int>(before.jobs.size()), on_step);
  late.give_up(given_up);
  const auto measure = is_again(task) ? measure_again : measure_together;
  std::vector<JobResult> results = measure(plan, task, before, jobs, late);
  if (!is_again(task)) leave_node(plan, task.rank);  // writing takes longer than others should wait
  add_to_shard(plan, task, before, std::move(results));
}

}  // namespace sonde
