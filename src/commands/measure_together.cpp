// GPUs of a node take turns, and then work at once; what they found joins their shards.
#include "commands/measure_together.hpp"

#include "base/deadline_factor.hpp"
#include "base/error.hpp"
#include "base/stop_signal.hpp"
#include "fleet/progress.hpp"
#include "store/run_reader.hpp"
#include "store/shard.hpp"
#include "store/write_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>

namespace sonde {
namespace {

using Clock = std::chrono::steady_clock;

DeviceResult read_measured(const MeasurePlan& plan, const Task& task) {
  const auto shard = finished_shard(plan.parts, task.device.uuid);
  auto devices = read_run(shard, WithTraces::no).devices;
  if (devices.size() == 1) return std::move(devices.front());
  throw StoreError(fmt::format(
      "'{}' does not hold one device (nothing can be added to it) remove it and start again with "
      "--resume",
      shard.string()));
}

/// Those of the plan that the device has not been through.
std::vector<const Job*> jobs_left(const MeasurePlan& plan, const DeviceResult& device) {
  std::vector<const Job*> jobs;
  for (const Job* job : plan.jobs) {
    const bool done =
        std::ranges::find(device.jobs, job->name, &JobResult::job) != device.jobs.end();
    if (job->reach == JobReach::node && !done) jobs.push_back(job);
  }
  return jobs;
}

void add_to_shard(const MeasurePlan& plan, DeviceResult device, std::vector<JobResult> jobs) {
  Shard shard = Shard::extend(plan.parts, device);
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
  try {
    write_digest(path, device, plan.provenance.config_hash);
  } catch (const StoreError&) {
    // The shard says the same, only slower.
  }
}

/// Nobody waits for this rank once this has ended.
class Leaving {
 public:
  Leaving(const MeasurePlan& plan, const Task& task) : plan_(plan), task_(task) {}
  ~Leaving() { leave_node(plan_, task_.rank); }
  Leaving(const Leaving&) = delete;
  Leaving& operator=(const Leaving&) = delete;

 private:
  const MeasurePlan& plan_;
  const Task& task_;
};

/// @param turns must outlive it
NodeGpus node_of(const Task& task, Turns& turns) {
  NodeGpus node;
  node.gpus = task.node_gpus;
  const auto own = std::ranges::find(node.gpus, task.device.uuid, &NodeGpu::uuid);
  node.own = static_cast<std::size_t>(own - node.gpus.begin());
  node.turns.begin = [&turns] { return turns.begin(); };
  node.turns.end = [&turns] { return turns.end(); };
  node.turns.meet = [&turns] {
    Turns::Meeting meeting = turns.meet();
    return Appointment{meeting.begin_unix_ns, std::move(meeting.refusal)};
  };
  node.turns.compare = [&turns](TimeSpan own_span) {
    Turns::Common common = turns.compare({own_span.begin_unix_ns, own_span.end_unix_ns});
    return Overlap{{common.span.begin_unix_ns, common.span.end_unix_ns}, std::move(common.refusal)};
  };
  return node;
}

/// GPUs that this device is opened with. A GPU without any is opened as in all other jobs.
std::vector<NodeGpu> peers_of(const Task& task) {
  std::vector<NodeGpu> peers;
  for (const NodeGpu& gpu : task.node_gpus) {
    if (gpu.uuid != task.device.uuid && gpu.reachable) peers.push_back(gpu);
  }
  return peers;
}

/// Empty if it was: what could not be opened, or must not be used, is left alone.
std::string why_never_measured(const DeviceResult& device) {
  const auto was_run = [](const JobResult& job) { return job.status != Status::not_run; };
  const bool measured = device.jobs.empty() || std::ranges::any_of(device.jobs, was_run);
  return measured ? "" : device.reason;
}

/// Of a node with one GPU: nothing has failed, and there is nothing to open the GPU for.
JobResult job_without_links(const Job& job) {
  JobResult result = job_without_answers(
      job, Status::not_resolvable,
      "this run measures one GPU of the node (a link has two ends) start a rank for each GPU of a "
      "node");
  result.status = Status::ok;
  result.reason.clear();
  return result;
}

/// It was found fit to be measured before; other processes on it are now those of its peers.
std::unique_ptr<Device> open_with_peers(const MeasurePlan& plan, const Task& task,
                                        std::string& reason) {
  try {
    return open_device(plan.backend, task.device, plan.device_seed,
                       static_cast<double>(plan.options.memory_percent) / 100, peers_of(task));
  } catch (const DeviceError& error) {
    reason = error.what();
    return nullptr;
  }
}

}  // namespace

bool has_jobs_together(const MeasurePlan& plan) {
  return std::ranges::any_of(plan.jobs,
                             [](const Job* job) { return job->reach == JobReach::node; });
}

std::vector<NodeGpu> gpus_of_node(const std::vector<RankView>& views, const Assignment& assignment,
                                  int rank, const BackendChoice& backend,
                                  const std::vector<DeviceChoice>& visible) {
  const int machine = views[static_cast<std::size_t>(rank)].machine;
  std::vector<NodeGpu> gpus;
  for (std::size_t other = 0; other < views.size(); ++other) {
    const auto& uuid = assignment.uuid_of_rank[other];
    if (!uuid || views[other].machine != machine) continue;
    gpus.push_back({.uuid = *uuid,
                    .rank = static_cast<int>(other),
                    .reachable = can_reach(backend, visible, *uuid)});
  }
  return gpus;
}

std::size_t most_gpus_of_node(const std::vector<RankView>& views, const Assignment& assignment) {
  std::map<int, std::size_t> gpus;
  std::size_t most = 0;
  for (std::size_t rank = 0; rank < views.size(); ++rank) {
    if (assignment.uuid_of_rank[rank]) most = std::max(most, ++gpus[views[rank].machine]);
  }
  return most;
}

void leave_node(const MeasurePlan& plan, int rank) {
  for (const Job* job : plan.jobs) {
    if (job->reach == JobReach::node) leave_turns(plan.parts, std::string(job->name), rank);
  }
}

TurnLimits turn_limits(const MeasurePlan& plan) {
  TurnLimits limits;
  limits.silence_s = plan.options.rendezvous_timeout_s;
  for (double* limit_s : {&limits.ready_s, &limits.start_s, &limits.turn_s}) {
    *limit_s *= deadline_factor();
  }
  return limits;
}

void measure_together(const MeasurePlan& plan, const Task& task,
                      const std::function<void(const Step&)>& on_step) {
  const auto end = Clock::now() + std::chrono::duration<double>(task.limit_s * deadline_factor());
  const Leaving leaving(plan, task);
  const DeviceResult before = read_measured(plan, task);
  const std::vector<const Job*> jobs = jobs_left(plan, before);
  if (jobs.empty()) return;
  if (task.node_gpus.size() < 2) {
    std::vector<JobResult> results;
    for (const Job* job : jobs) results.push_back(job_without_links(*job));
    return add_to_shard(plan, before, std::move(results));
  }
  std::string over = why_never_measured(before);  // why no further job can run
  std::unique_ptr<Device> device;
  if (over.empty()) device = open_with_peers(plan, task, over);
  Step step{.job = "", .jobs_done = static_cast<int>(before.jobs.size())};
  const auto go_on = [&](bool waits) {
    step.waits = waits;
    on_step(step);
    if (stop_requested()) over = "stopped by a signal";
    if (Clock::now() > end) over = fmt::format("not over after {:.0f} s", task.limit_s);
    if (!over.empty()) throw Error(over);
  };
  std::vector<int> ranks;
  for (const NodeGpu& gpu : task.node_gpus) ranks.push_back(gpu.rank);
  const TurnWatch watch{
      .sign_of_life = [&plan](int rank) { return progress_beat(plan.parts, rank); },
      .on_poll = [&go_on] { go_on(true); }};
  std::vector<JobResult> results;
  for (const Job* job : jobs) {
    if (!over.empty()) {
      results.push_back(job_without_answers(*job, Status::failed, over));
      continue;
    }
    step.job = job->name;
    step.begins = true;
    on_step(step);
    step.begins = false;
    Turns turns(plan.parts, std::string(job->name), ranks, task.rank, turn_limits(plan), watch);
    JobOutcome outcome = run_job(
        *job, *device, plan.level, plan.seed, before.jobs,
        plan.options.job_timeout_s * deadline_factor(), [&] { go_on(false); },
        plan.settings_of(*job), node_of(task, turns));
    if (outcome.device_lost) over = outcome.result.reason;
    results.push_back(std::move(outcome.result));
  }
  leave_node(plan, task.rank);  // to write takes longer than others should wait
  add_to_shard(plan, before, std::move(results));
}

void give_up_together(const MeasurePlan& plan, const Task& task, const std::string& reason) {
  const DeviceResult before = read_measured(plan, task);
  std::vector<JobResult> results;
  for (const Job* job : jobs_left(plan, before)) {
    results.push_back(job_without_answers(*job, Status::failed, reason));
  }
  add_to_shard(plan, before, std::move(results));
}

}  // namespace sonde
