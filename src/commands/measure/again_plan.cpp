#include "commands/measure/again_plan.hpp"

#include "analysis/fleet/verdict/reduce.hpp"
#include "store/output.hpp"
#include "store/write_run.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace sonde {
namespace {

// A job takes about as long as the first time; the order of accesses differs.
constexpr double slack_factor = 1.5;
// Opening the device: 0.4 s on an H200, some 2 s for each GPU of a node without persistence mode.
constexpr double start_s = 10;
// More GPUs deviate only if something else is wrong. (The plan must fit into a message.)
constexpr std::size_t most_devices = 256;

/// @returns true if the device will measure the job again
bool add_job(const DeviceResult& device, const std::string& name, AgainTask& task) {
  const JobResult* job = find_job(device.jobs, name);
  if (job == nullptr || find_job(device.again, name) != nullptr) return false;
  if (std::ranges::find(task.jobs, name) != task.jobs.end()) return true;
  const double limit_s =
      (task.jobs.empty() ? start_s : task.limit_s) + slack_factor * job->elapsed_s;
  if (limit_s > most_again_s) return false;
  task.uuid = device.info.uuid;
  task.limit_s = limit_s;
  task.jobs.push_back(name);
  return true;
}

}  // namespace

std::vector<AgainTask> plan_again(const RunResult& run, const FleetAnalysis& analysis,
                                  const std::vector<std::string>& present) {
  const std::set<std::string_view> can_measure(present.begin(), present.end());
  std::map<std::size_t, AgainTask> by_device;
  const auto add = [&](std::size_t device, const std::string& job) {
    const DeviceResult& result = run.devices[device];
    if (by_device.size() == most_devices && !by_device.contains(device)) return false;
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

std::vector<AgainTask> judge_shards(const std::filesystem::path& parts) {
  const Roster roster = read_roster(parts);
  RunResult run{.provenance = roster.provenance, .devices = {}, .unaudited = roster.unaudited};
  for (const auto& shard : list_shards(parts)) {
    std::ranges::move(read_finished(shard, roster.provenance.config_hash),
                      std::back_inserter(run.devices));
  }
  std::ranges::stable_sort(run.devices, {}, &DeviceResult::rank);
  std::vector<std::string> present;
  for (const RosterEntry& entry : roster.devices) present.push_back(entry.uuid);
  return plan_again(run, reduce_fleet(run), present);
}

}  // namespace sonde
