// Jobs that are measured again draw other random numbers than the first time. Links between the
// GPUs of a node are measured with one thread per GPU. The shards get all results.
#include "commands/measure/late_jobs.hpp"

#include "base/deadline_factor.hpp"
#include "base/error.hpp"
#include "base/log.hpp"
#include "base/random.hpp"
#include "base/stop_signal.hpp"
#include "commands/measure/node_meeting.hpp"
#include "fleet/bind_cpu.hpp"
#include "store/shard.hpp"
#include "store/write_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <future>
#include <map>
#include <mutex>

namespace sonde {
namespace {

using Clock = std::chrono::steady_clock;
using OnStep = std::function<void(const Step&)>;

/// Findings of the device so far. @throws StoreError
DeviceResult read_measured(const MeasurePlan& plan, const std::string& uuid) {
  const auto shard = finished_shard(plan.parts, uuid);
  auto devices = read_finished(shard, plan.provenance.config_hash);
  if (devices.size() == 1) return std::move(devices.front());
  throw StoreError(fmt::format("'{}' holds no device of this run", shard.string()));
}

/// Runs jobs one after the other. After a stop signal, at the time limit, or if the device is lost,
/// all remaining jobs fail with that reason.
class LateRun {
 public:
  LateRun(const Task& task, int jobs_done, const OnStep& on_step)
      : limit_s_(task.limit_s), step_{.job = "", .jobs_done = jobs_done}, on_step_(on_step) {}

  void give_up(const std::string& reason) { over_ = reason; }
  bool is_over() const { return !over_.empty(); }

  /// Called at each probe and while waiting for other GPUs. @throws Error to end the job
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

void measure_again(const MeasurePlan& plan, const Task& task, const OnStep& on_step,
                   const std::string& given_up) {
  DeviceResult first = read_measured(plan, task.device.uuid);
  LateRun late(task, static_cast<int>(first.jobs.size()), on_step);
  late.give_up(given_up);
  DeviceResult opened;
  const std::unique_ptr<Device> device =
      late.is_over() ? nullptr : open_to_measure(plan, task.device, opened);
  if (device) device->draw_anew();
  if (!late.is_over()) late.give_up(opened.reason);
  std::vector<JobResult> results;
  for (const std::string& name : task.again_jobs) {
    const auto found = std::ranges::find(plan.jobs, name, &Job::name);
    if (found == plan.jobs.end()) throw Error("no job of this run is called " + name);
    std::vector<JobResult> others = first.jobs;  // without the first results of the job itself
    std::erase_if(others, [&name](const JobResult& one) { return one.job == name; });
    results.push_back(late.run(**found, [&] {
      return run_planned(plan, **found, *device, derive_seed(plan.seed, "measured again"), others,
                         [&] { late.go_on(false); });
    }));
  }
  Shard shard = Shard::extend(plan.parts, first);
  for (JobResult& job : results) {
    shard.append_again(job);
    first.again.push_back(std::move(job));
  }
  shard.finish(first);
}

/// A GPU of the node whose shard has no results for links.
struct Row {
  std::size_t place = 0;  // index in the list of GPUs of the node
  DeviceResult before;
  LateRun late;
  std::unique_ptr<Device> device{};
  std::vector<JobResult> results{};

  const std::string& uuid() const { return before.info.uuid; }
  bool lacks(const Job& job) const {
    return job.reach == JobReach::node && find_job(before.jobs, job.name) == nullptr;
  }
};

/// Why a GPU is not used itself (other GPUs still reach its memory); empty if it is used.
std::string why_not_used(const DeviceResult& before) {
  const auto not_run = std::ranges::find(before.jobs, Status::not_run, &JobResult::status);
  return not_run != before.jobs.end() ? not_run->reason : "";
}

/// A GPU whose shard cannot be read gets a line in the log and no row.
std::vector<Row> find_rows(const MeasurePlan& plan, const Task& task, const OnStep& on_step,
                           const std::string& given_up) {
  std::vector<Row> rows;
  for (std::size_t place = 0; place < task.node_gpus.size(); ++place) {
    try {
      DeviceResult before = read_measured(plan, task.node_gpus[place].uuid);
      LateRun late(task, static_cast<int>(before.jobs.size()), on_step);
      late.give_up(given_up.empty() ? why_not_used(before) : given_up);
      Row row{.place = place, .before = std::move(before), .late = std::move(late)};
      const auto is_left = [&row](const Job* job) { return row.lacks(*job); };
      if (std::ranges::any_of(plan.jobs, is_left)) rows.push_back(std::move(row));
    } catch (const StoreError& error) {
      log_local(error.what());
    }
  }
  return rows;
}

/// Opens all GPUs at once, each with the other GPUs of the node that this process sees.
void open_rows(const MeasurePlan& plan, const Task& task, std::vector<Row>& rows) {
  std::vector<NodeGpu> seen = task.node_gpus;
  std::erase_if(seen, [](const NodeGpu& gpu) { return !gpu.reachable; });
  // If the driver has lost a GPU, it hides the GPUs listed after it. So unused GPUs come last.
  std::ranges::stable_partition(seen, [&rows](const NodeGpu& gpu) {
    const auto row = std::ranges::find(rows, gpu.uuid, &Row::uuid);
    return row != rows.end() && !row->late.is_over();
  });
  const auto open = [&](Row& row) {
    const NodeGpu& own = task.node_gpus[row.place];
    std::vector<NodeGpu> peers = seen;
    std::erase_if(peers, [&own](const NodeGpu& peer) { return peer.uuid == own.uuid; });
    try {
      row.device =
          open_device(plan.backend, {.uuid = own.uuid, .ordinal = own.rank}, plan.device_seed,
                      static_cast<double>(plan.options.memory_percent) / 100, peers);
    } catch (const DeviceError& error) {
      row.late.give_up(error.what());
    }
  };
  std::vector<std::future<void>> opening;
  for (Row& row : rows) {
    if (row.late.is_over() || !task.node_gpus[row.place].reachable) continue;
    opening.push_back(std::async(std::launch::async, open, std::ref(row)));
  }
  for (std::future<void>& one : opening) one.get();
}

JobResult measure_row(const MeasurePlan& plan, const Task& task, const Job& job, Row& row,
                      NodeMeeting& meeting) {
  if (!task.node_gpus[row.place].reachable) {
    return job_without_links(
        job, fmt::format("rank {}, which measures the links of the node, does not see this GPU "
                         "(cgroup, CUDA_VISIBLE_DEVICES or MIG) let each rank see all GPUs of its "
                         "node",
                         task.rank));
  }
  return row.late.run(job, [&] {
    bind_near_device(row.device->info().pci_bus_id, Bound::thread);
    return run_planned(
        plan, job, *row.device, plan.seed, row.before.jobs, [&] { row.late.go_on(false); },
        {.gpus = task.node_gpus, .own = row.place, .turns = meeting.turns_of(row.place, [&] {
           row.late.go_on(true);
         })});
  });
}

struct Leaves {
  NodeMeeting& meeting;
  std::size_t place;
  ~Leaves() { meeting.leave(place); }
};

/// Measures all rows at the same time. A GPU without a row leaves the meeting at once, and one
/// whose job ends leaves then, so that no other GPU waits for it.
void measure_rows(const MeasurePlan& plan, const Task& task, const Job& job,
                  std::vector<Row>& rows) {
  NodeMeeting meeting(task.node_gpus);
  std::vector<std::future<void>> threads;
  for (std::size_t place = 0; place < task.node_gpus.size(); ++place) {
    const auto row = std::ranges::find(rows, place, &Row::place);
    if (row == rows.end() || !row->lacks(job)) {
      meeting.leave(place);
      continue;
    }
    threads.push_back(std::async(std::launch::async, [&, row] {
      const Leaves leaves{meeting, row->place};
      row->results.push_back(measure_row(plan, task, job, *row, meeting));
    }));
  }
  for (std::future<void>& thread : threads) thread.get();
}

void add_to_shard(const MeasurePlan& plan, DeviceResult device, std::vector<JobResult> jobs) {
  Shard shard = Shard::extend(plan.parts, device);
  note_outcome(device);  // drops the status "incomplete", which stood for the missing links
  for (JobResult& job : jobs) {
    shard.append(job);
    job.probes.clear();
    device.jobs.push_back(std::move(job));
  }
  note_outcome(device);
  shard.finish(device);
}

/// If a GPU was lost, all devices stay open until the process ends: closing could hang.
void leave_open_if_lost(std::vector<Row>& rows) {
  static std::vector<std::unique_ptr<Device>>& open = *new std::vector<std::unique_ptr<Device>>;
  if (std::ranges::none_of(rows, [](const Row& row) { return row.late.is_over(); })) return;
  for (Row& row : rows) open.push_back(std::move(row.device));
}

void measure_together(const MeasurePlan& plan, const Task& task, const OnStep& on_step,
                      const std::string& given_up) {
  std::mutex one_speaks;
  const OnStep on_step_of_one = [&](const Step& step) {
    const std::lock_guard lock(one_speaks);
    on_step(step);
  };
  std::vector<Row> rows = find_rows(plan, task, on_step_of_one, given_up);
  open_rows(plan, task, rows);
  for (const Job* job : plan.jobs) {
    if (job->reach == JobReach::node) measure_rows(plan, task, *job, rows);
  }
  leave_open_if_lost(rows);
  for (Row& row : rows) {
    try {
      add_to_shard(plan, std::move(row.before), std::move(row.results));
    } catch (const StoreError& error) {
      log_local(error.what());
    }
  }
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

void measure_late(const MeasurePlan& plan, const Task& task, const OnStep& on_step,
                  const std::string& given_up) {
  const bool again = task.kind == TaskKind::measure_again;
  (again ? measure_again : measure_together)(plan, task, on_step, given_up);
}

}  // namespace sonde
