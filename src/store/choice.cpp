#include "store/choice.hpp"

#include <algorithm>
#include <set>

namespace sonde {

bool Choice::holds(const std::string& uuid) const {
  const auto found = places_.lower_bound({uuid, ""});
  return found != places_.end() && found->first.first == uuid;
}

Candidate* Choice::add(Candidate one) {
  const auto [place, is_new] =
      places_.try_emplace(std::pair(one.uuid, one.config_hash), all_.size());
  if (!is_new) return &all_[place->second];
  all_.push_back(std::move(one));
  return nullptr;
}

void Choice::add_missing(const Roster& roster, const std::string& elsewhere) {
  std::set<std::string> measured;
  for (const Candidate& one : all_) measured.insert(one.uuid);
  for (const Point& point : points_of(roster.provenance)) {
    for (const RosterEntry& entry : roster.devices) {
      if (holds(entry.uuid, point.config_hash)) continue;
      const bool left_some = !elsewhere.empty() && measured.contains(entry.uuid);
      DeviceResult missing;
      missing.info.uuid = entry.uuid;
      missing.node = entry.node;
      missing.rank = entry.rank;
      missing.status = left_some ? DeviceOutcome::incomplete : DeviceOutcome::lost;
      missing.reason = left_some ? elsewhere : "its rank did not come back, and left no results";
      add({.given = std::make_shared<DeviceResult>(missing),
           .uuid = entry.uuid,
           .config_hash = point.config_hash,
           .status = missing.status,
           .rank = entry.rank});
    }
  }
}

std::size_t Choice::leave_points_of_nobody(Roster& roster) const {
  if (points_of(roster.provenance).size() < 2) return 0;
  return std::erase_if(roster.provenance.points, [&](const Point& point) {
    return std::ranges::find(all_, point.config_hash, &Candidate::config_hash) == all_.end();
  });
}

}  // namespace sonde
