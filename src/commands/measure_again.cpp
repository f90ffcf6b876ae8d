// Second tries: other random choices than at first, the same device, the same jobs before them.
#include "commands/measure_again.hpp"

#include "analysis/fleet/reduce.hpp"
#include "base/deadline_factor.hpp"
#include "base/error.hpp"
#include "base/log.hpp"
#include "base/random.hpp"
#include "base/stop_signal.hpp"
#include "commands/again_plan.hpp"
#include "commands/tolerances.hpp"
#include "store/output.hpp"
#include "store/roster_file.hpp"
#include "store/run_reader.hpp"
#include "store/shard.hpp"
#include "store/write_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <iterator>

namespace sonde {
namespace {

using Clock = std::chrono::steady_clock;

DeviceResult read_first(const MeasurePlan& plan, const Task& task) {
  const auto shard = finished_shard(plan.parts, task.device.uuid);
  auto devices = read_run(shard, WithTraces::no).devices;
  if (devices.size() == 1) return std::move(devices.front());
  throw StoreError(
      fmt::format("'{}' does not hold one device (its jobs cannot be measured again) "
                  "remove it and start again with --resume",
                  shard.string()));
}

const Job& find_job(const MeasurePlan& plan, const std::string& name) {
  const auto found = std::ranges::find(plan.jobs, name, &Job::name);
  if (found == plan.jobs.end()) throw Error("no job of this run is called " + name);
  return **found;
}

/// What the job builds on: not its own first findings.
std::vector<JobResult> others(const std::vector<JobResult>& jobs, std::string_view job) {
  std::vector<JobResult> rest = jobs;
  std::erase_if(rest, [job](const JobResult& one) { return one.job == job; });
  return rest;
}

void add_to_shard(const MeasurePlan& plan, const DeviceResult& first,
                  const std::vector<JobResult>& second) {
  Shard shard = Shard::extend(plan.parts, first);
  for (const JobResult& job : second) shard.append_again(job);
  shard.finish(first);
}

}  // namespace

void judge_shards(const MeasurePlan& plan) {
  const Roster roster = read_roster(plan.parts);
  RunResult run{.provenance = roster.provenance, .devices = {}, .unaudited = roster.unaudited};
  const std::string& hash = roster.provenance.config_hash;
  for (const auto& shard : list_shards(plan.parts)) {
    std::ranges::move(read_finished(shard, hash), std::back_inserter(run.devices));
  }
  std::ranges::stable_sort(run.devices, {}, &DeviceResult::rank);
  std::vector<std::string> present;
  for (const RosterEntry& entry : roster.devices) present.push_back(entry.uuid);
  ReduceOptions options;
  options.tolerances = tolerances_of(run.provenance);
  write_again_plan(plan.parts, plan_again(run, reduce_fleet(run, options), present));
}

void measure_again(const MeasurePlan& plan, const Task& task,
                   const std::function<void(const Step&)>& on_step) {
  const auto end = Clock::now() + std::chrono::duration<double>(task.limit_s * deadline_factor());
  const DeviceResult first = read_first(plan, task);
  DeviceResult opened;
  const std::unique_ptr<Device> device = open_to_measure(plan, task.device, opened);
  if (device) device->draw_anew();
  std::string over = opened.reason;  // why no further job can run
  Step step{.job = "", .jobs_done = static_cast<int>(first.jobs.size())};
  const auto on_probe = [&] {
    on_step(step);
    if (stop_requested()) over = "stopped by a signal";
    if (Clock::now() > end) over = fmt::format("not over after {:.0f} s", task.limit_s);
    if (!over.empty()) throw Error(over);
  };
  std::vector<JobResult> second;
  for (const std::string& name : task.again_jobs) {
    const Job& job = find_job(plan, name);
    if (!over.empty()) {
      second.push_back(job_without_answers(job, Status::failed, over));
      continue;
    }
    step.job = job.name;
    step.begins = true;
    on_step(step);
    step.begins = false;
    JobOutcome outcome =
        run_job(job, *device, plan.level, derive_seed(plan.seed, "measured again"),
                others(first.jobs, job.name), plan.options.job_timeout_s * deadline_factor(),
                on_probe, plan.settings_of(job));
    if (outcome.device_lost) over = outcome.result.reason;
    second.push_back(std::move(outcome.result));
  }
  add_to_shard(plan, first, second);
}

void give_up_again(const MeasurePlan& plan, const Task& task, const std::string& reason) {
  std::vector<JobResult> second;
  for (const std::string& name : task.again_jobs) {
    second.push_back(job_without_answers(find_job(plan, name), Status::failed, reason));
  }
  add_to_shard(plan, read_first(plan, task), second);
}

}  // namespace sonde
