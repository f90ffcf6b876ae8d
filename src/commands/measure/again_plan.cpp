// From suspects to tasks within a budget of time, and the file that carries them.
#include "commands/measure/again_plan.hpp"

#include "analysis/fleet/verdict/reduce.hpp"
#include "base/error.hpp"
#include "base/escape.hpp"
#include "base/text_file.hpp"
#include "config/run_options.hpp"
#include "store/output.hpp"
#include "store/write_run.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace sonde {
namespace fs = std::filesystem;

// The JSON library finds this by name.
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(AgainTask, uuid, jobs, limit_s)

namespace {

// A job takes as long as before, give or take other orders of accesses.
constexpr double slack_factor = 1.5;
// Opening the device: 0.4 s on an H200, some 2 s for each GPU of a node without persistence mode.
constexpr double start_s = 10;

double limit_for(double expected_s) { return start_s + slack_factor * expected_s; }

const JobResult* find_job(const std::vector<JobResult>& jobs, const std::string& name) {
  const auto found = std::ranges::find(jobs, name, &JobResult::job);
  return found != jobs.end() ? &*found : nullptr;
}

/// One peer for each job in each group, as near the middle as any in the metric that was asked for
/// first: other findings of the job need no other peer, nor do other suspects.
class Peers {
 public:
  Peers(const RunResult& run, const FleetAnalysis& analysis) : run_(run), analysis_(analysis) {}

  std::optional<std::size_t> of(const Suspect& suspect) {
    const auto [known, is_new] = found_.try_emplace({suspect.group, suspect.job});
    if (is_new) known->second = median_peer(analysis_, run_, suspect.group, suspect.metric);
    return known->second;
  }

 private:
  const RunResult& run_;
  const FleetAnalysis& analysis_;
  std::map<std::pair<std::size_t, std::string>, std::optional<std::size_t>> found_;
};

/// Tasks by device, as they fill up.
class Tasks {
 public:
  Tasks(const RunResult& run, const std::vector<std::string>& present)
      : run_(run), present_(present.begin(), present.end()) {}

  /// @returns whether the device will measure that job again
  bool add(std::size_t device, const std::string& name) {
    const DeviceResult& result = run_.devices[device];
    const JobResult* job = find_job(result.jobs, name);
    const bool tried = find_job(result.again, name) != nullptr;
    if (!present_.contains(result.info.uuid) || job == nullptr || tried) return false;
    AgainTask& task =
        tasks_
            .try_emplace(device,
                         AgainTask{.uuid = result.info.uuid, .jobs = {}, .limit_s = limit_for(0)})
            .first->second;
    if (std::ranges::find(task.jobs, name) != task.jobs.end()) return true;
    const double limit_s = task.limit_s + slack_factor * job->elapsed_s;
    if (limit_s > most_again_s) return false;
    task.limit_s = limit_s;
    task.jobs.push_back(name);
    return true;
  }

  std::vector<AgainTask> take() {
    std::vector<AgainTask> tasks;
    for (auto& [device, task] : tasks_) {
      if (!task.jobs.empty()) tasks.push_back(std::move(task));
    }
    return tasks;
  }

 private:
  const RunResult& run_;
  std::set<std::string> present_;
  std::map<std::size_t, AgainTask> tasks_;
};

fs::path plan_path(const fs::path& parts) { return parts / "again.json"; }

/// Whether a second try of that job may still give an answer.
bool is_open(const DeviceResult& device, const std::string& name) {
  const JobResult* second = find_job(device.again, name);
  return second == nullptr || second->status == Status::failed;
}

}  // namespace

std::vector<AgainTask> plan_again(const RunResult& run, const FleetAnalysis& analysis,
                                  const std::vector<std::string>& present) {
  Tasks tasks(run, present);
  Peers peers(run, analysis);
  for (const Suspect& suspect : find_suspects(analysis, run)) {
    if (!tasks.add(suspect.device, suspect.job)) continue;
    if (const auto peer = peers.of(suspect)) tasks.add(*peer, suspect.job);
  }
  return tasks.take();
}

void judge_shards(const fs::path& parts) {
  const Roster roster = read_roster(parts);
  RunResult run{.provenance = roster.provenance, .devices = {}, .unaudited = roster.unaudited};
  for (const auto& shard : list_shards(parts)) {
    std::ranges::move(read_finished(shard, roster.provenance.config_hash),
                      std::back_inserter(run.devices));
  }
  std::ranges::stable_sort(run.devices, {}, &DeviceResult::rank);
  std::vector<std::string> present;
  for (const RosterEntry& entry : roster.devices) present.push_back(entry.uuid);
  write_again_plan(parts, plan_again(run, reduce_fleet(run), present));
}

void write_again_plan(const fs::path& parts, const std::vector<AgainTask>& tasks) {
  write_text_file(plan_path(parts), nlohmann::json(tasks).dump(
                                        -1, ' ', false, nlohmann::json::error_handler_t::replace));
}

std::vector<AgainTask> read_again_plan(const fs::path& parts) {
  std::ifstream file(plan_path(parts));
  try {
    return nlohmann::json::parse(file).get<std::vector<AgainTask>>();
  } catch (const nlohmann::json::exception& error) {
    throw StoreError(fmt::format("cannot read '{}' ({}) look whether all nodes share that folder",
                                 plan_path(parts).string(), error.what()));
  }
}

void clear_again_plan(const fs::path& parts) {
  std::error_code ignored;
  fs::remove(plan_path(parts), ignored);
}

std::string describe_unconfirmed(const RunResult& run, const FleetAnalysis& analysis,
                                 const fs::path& path) {
  if (points_of(run.provenance).size() > 1) return {};  // no run makes second tries at its points
  const auto waiting =
      std::ranges::count_if(find_suspects(analysis, run), [&run](const Suspect& suspect) {
        const DeviceResult& device = run.devices[suspect.device];
        const JobResult* first = find_job(device.jobs, suspect.job);
        const bool fits = first != nullptr && limit_for(first->elapsed_s) <= most_again_s;
        return fits && is_open(device, suspect.job);
      });
  if (waiting == 0) return {};
  return fmt::format(
      "\n{} finding(s) were not measured again. To do so, start on their nodes with one rank per "
      "GPU:\n  sonde run --resume{} -o {}\n",
      waiting, to_arguments(run.provenance.config_json), quote_shell(path.string()));
}

}  // namespace sonde
