#include "commands/measure/fill_budget.hpp"

#include "store/output.hpp"
#include "store/shard.hpp"
#include "store/write_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

namespace sonde {
namespace {

/// True if this shard of a GPU says that nothing more could be measured on it.
bool was_given_up(const MeasurePlan& point, const std::string& uuid) {
  try {
    const auto devices =
        read_finished(finished_shard(point.parts, uuid), point.provenance.config_hash);
    return std::ranges::any_of(devices, [](const DeviceResult& device) {
      return std::ranges::find(device.jobs, Status::not_run, &JobResult::status) !=
             device.jobs.end();
    });
  } catch (const StoreError&) {
    return false;
  }
}

}  // namespace

std::size_t whole_points(const RunPlan& plan, const Roster& roster,
                         const std::vector<int>& lost_ranks) {
  std::size_t least = plan.points.size();
  std::size_t most = plan.points_of_repeat();  // at least one repeat if every GPU was given up
  for (const RosterEntry& entry : roster.devices) {
    const auto end = std::ranges::find_if_not(plan.points, [&entry](const MeasurePlan& point) {
      return std::filesystem::exists(finished_shard(point.parts, entry.uuid));
    });
    const auto points = static_cast<std::size_t>(end - plan.points.begin());
    most = std::max(most, points);
    const bool is_lost = std::ranges::find(lost_ranks, entry.rank) != lost_ranks.end();
    if (is_lost || points >= least) continue;
    if (points == 0 || !was_given_up(plan.points[points - 1], entry.uuid)) least = points;
  }
  return std::min(least, most);
}

void keep_points(std::size_t count, RunPlan& plan) {
  plan.points.erase(plan.points.begin() + static_cast<std::ptrdiff_t>(count), plan.points.end());
  keep_points(count, plan.provenance);
}

void keep_points(std::size_t count, Provenance& provenance) {
  provenance.points.resize(count);
  provenance.config_hash = hash_points(provenance.points);
}

void remove_other_points(const RunPlan& plan, std::size_t count, Roster roster) {
  keep_points(count, roster.provenance);
  write_roster(plan.parts, roster);
  for (std::size_t i = count; i < plan.points.size(); ++i) {
    std::error_code ignored;  // merge ignores shards of unknown points, so this may fail
    std::filesystem::remove_all(plan.points[i].parts, ignored);
  }
}

std::string describe_kept(const RunPlan& plan) {
  const std::size_t each = plan.points_of_repeat();
  const std::size_t rest = plan.points.size() % each;
  return fmt::format("{} complete repeat(s) are kept{}", plan.points.size() / each,
                     rest == 0 ? "" : fmt::format(", and {} point(s) of the next one", rest));
}

}  // namespace sonde
