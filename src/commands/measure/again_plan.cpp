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

// A job takes about as long as the first time; the order of accesses differs.
constexpr double slack_factor = 1.5;
// Opening the device: 0.4 s on an H200, some 2 s for each GPU of a node without persistence mode.
constexpr double start_s = 10;

double limit_for(double expected_s) { return start_s + slack_factor * expected_s; }

/// @returns true if the device will measure the job again
bool add_job(const DeviceResult& device, const std::string& name, AgainTask& task) {
  const JobResult* job = find_job(device.jobs, name);
  if (job == nullptr || find_job(device.again, name) != nullptr) return false;
  if (std::ranges::find(task.jobs, name) != task.jobs.end()) return true;
  const double limit_s =
      (task.jobs.empty() ? limit_for(0) : task.limit_s) + slack_factor * job->elapsed_s;
  if (limit_s > most_again_s) return false;
  task.uuid = device.info.uuid;
  task.limit_s = limit_s;
  task.jobs.push_back(name);
  return true;
}

fs::path plan_path(const fs::path& parts) { return parts / "again.json"; }

/// True if a second try of the job may still give an answer.
bool can_try_again(const DeviceResult& device, const std::string& name) {
  const JobResult* second = find_job(device.again, name);
  return second == nullptr || second->status == Status::failed;
}

}  // namespace

std::vector<AgainTask> plan_again(const RunResult& run, const FleetAnalysis& analysis,
                                  const std::vector<std::string>& present) {
  const std::set<std::string_view> can_measure(present.begin(), present.end());
  std::map<std::size_t, AgainTask> by_device;
  const auto add = [&](std::size_t device, const std::string& job) {
    const DeviceResult& result = run.devices[device];
    return can_measure.contains(result.info.uuid) && add_job(result, job, by_device[device]);
  };
  // One peer for each job of a group: the device nearest to the median of the metric that came
  // first. Other findings of the job and other suspects of the group use the same peer.
  std::map<std::pair<std::size_t, std::string>, std::optional<std::size_t>> peers;
  for (const Suspect& suspect : find_suspects(analysis, run)) {
    if (!add(suspect.device, suspect.job)) continue;
    const auto [peer, is_new] = peers.try_emplace({suspect.group, suspect.job});
    if (is_new) peer->second = median_peer(analysis, run, suspect.group, suspect.metric);
    if (peer->second) add(*peer->second, suspect.job);
  }
  std::vector<AgainTask> tasks;
  for (auto& [device, task] : by_device) {
    if (!task.jobs.empty()) tasks.push_back(std::move(task));
  }
  return tasks;
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
  if (points_of(run.provenance).size() > 1) return {};  // a sweep measures nothing again
  const auto waiting =
      std::ranges::count_if(find_suspects(analysis, run), [&run](const Suspect& suspect) {
        const DeviceResult& device = run.devices[suspect.device];
        const JobResult* first = find_job(device.jobs, suspect.job);
        const bool fits = first != nullptr && limit_for(first->elapsed_s) <= most_again_s;
        return fits && can_try_again(device, suspect.job);
      });
  if (waiting == 0) return {};
  return fmt::format(
      "\n{} finding(s) were not measured again. To do so, start on their nodes with one rank per "
      "GPU:\n  sonde run --resume{} -o {}\n",
      waiting, to_arguments(run.provenance.config_json), quote_shell(path.string()));
}

}  // namespace sonde
