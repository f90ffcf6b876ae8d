#include "commands/measure/fill_budget.hpp"

#include "base/stop_signal.hpp"
#include "store/output.hpp"
#include "store/shard.hpp"
#include "store/write_run.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <limits>

namespace sonde {
namespace {

/// How many points a rank has finished, and whether others must wait for it.
struct Reach {
  bool stopped = false;  // by a signal
  bool bounds = false;   // its GPU can still be measured, so its number of points limits the file
  std::size_t points = 0;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Reach, stopped, bounds, points)

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

void keep_first(std::size_t count, Provenance& provenance) {
  provenance.points.resize(count);
  provenance.config_hash = hash_points(provenance.points);
}

}  // namespace

std::string describe_reach(const Supervised& mine) {
  return nlohmann::json(Reach{.stopped = stop_requested(),
                              .bounds = !mine.device.uuid.empty() && mine.given_up.empty(),
                              .points = mine.points_done})
      .dump();
}

std::optional<std::size_t> whole_points(const RunPlan& plan,
                                        const std::vector<std::string>& reaches) {
  std::size_t least = std::numeric_limits<std::size_t>::max();
  std::size_t most = plan.points_of_repeat();  // at least one repeat if every GPU was given up
  for (const std::string& text : reaches) {
    const auto rank = nlohmann::json::parse(text).get<Reach>();
    if (rank.stopped) return std::nullopt;
    if (rank.bounds) least = std::min(least, rank.points);
    most = std::max(most, rank.points);
  }
  const std::size_t whole = std::min(least, most);
  if (whole < plan.points_of_repeat()) return std::nullopt;
  return whole;
}

void keep_points(std::size_t count, RunPlan& plan) {
  plan.points.erase(plan.points.begin() + static_cast<std::ptrdiff_t>(count), plan.points.end());
  keep_first(count, plan.provenance);
}

void remove_other_points(const RunPlan& all, const RunPlan& kept, Roster roster) {
  roster.provenance = kept.provenance;
  roster.open_end = false;
  write_roster(kept.parts, roster);
  for (std::size_t i = kept.points.size(); i < all.points.size(); ++i) {
    std::error_code ignored;  // merge ignores shards of unknown points, so this may fail
    std::filesystem::remove_all(all.points[i].parts, ignored);
  }
}

Roster with_whole_points(const RunPlan& plan, Roster roster, const std::vector<int>& lost_ranks) {
  std::size_t least = roster.provenance.points.size();
  std::size_t most = plan.points_of_repeat();
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
  const std::size_t whole = std::max(std::min(least, most), plan.points_of_repeat());
  keep_first(std::min(whole, roster.provenance.points.size()), roster.provenance);
  roster.open_end = false;
  return roster;
}

std::string describe_kept(const RunPlan& plan) {
  const std::size_t each = plan.points_of_repeat();
  const std::size_t rest = plan.points.size() % each;
  return fmt::format("{} complete repeat(s) are kept{}", plan.points.size() / each,
                     rest == 0 ? "" : fmt::format(", and {} point(s) of the next one", rest));
}

}  // namespace sonde
