// What a run was to measure, and has no results of.
#include "store/missing.hpp"

#include <algorithm>

namespace sonde {
namespace {

/// @param status, reason of those that left some at another point
void add_missing_as(DeviceOutcome status, const std::string& reason, const Roster& roster,
                    Choice& choice) {
  const std::string no_results = "its rank did not come back, and left no results";
  const Choice measured = choice;
  for (const Point& point : points_of(roster.provenance)) {
    for (const RosterEntry& entry : roster.devices) {
      if (choice.holds(entry.uuid, point.config_hash)) continue;
      const bool left_some = measured.holds(entry.uuid);
      DeviceResult missing;
      missing.info.uuid = entry.uuid;
      missing.node = entry.node;
      missing.rank = entry.rank;
      missing.status = left_some ? status : DeviceOutcome::lost;
      missing.reason = left_some && !reason.empty() ? reason : no_results;
      choice.add({.given = missing,
                  .uuid = entry.uuid,
                  .config_hash = point.config_hash,
                  .status = missing.status,
                  .rank = entry.rank});
    }
  }
}

}  // namespace

void add_lost(Choice& choice, const Roster& roster) {
  add_missing_as(DeviceOutcome::lost, "", roster, choice);
}

void add_missing(Choice& choice, const Roster& roster, const std::string& reason) {
  add_missing_as(DeviceOutcome::incomplete, reason, roster, choice);
}

std::size_t leave_points_of_nobody(const Choice& choice, Roster& roster) {
  if (points_of(roster.provenance).size() < 2) return 0;
  return std::erase_if(roster.provenance.points, [&](const Point& point) {
    return std::ranges::none_of(
        choice.all(), [&](const Candidate& one) { return one.config_hash == point.config_hash; });
  });
}

}  // namespace sonde
