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
      places_.try_emplace(std::pair(one.device.info.uuid, one.config_hash), all_.size());
  if (!is_new) return &all_[place->second];
  all_.push_back(std::move(one));
  return nullptr;
}

void Choice::add_missing(const Roster& roster, const std::string& elsewhere) {
  std::set<std::string> measured;
  for (const Candidate& one : all_) measured.insert(one.device.info.uuid);
  for (const Point& point : points_of(roster.provenance)) {
    for (const RosterEntry& entry : roster.devices) {
      const bool left_some = !elsewhere.empty() && measured.contains(entry.uuid);
      Candidate missing{.config_hash = point.config_hash};
      missing.device.info.uuid = entry.uuid;
      missing.device.node = entry.node;
      missing.device.rank = entry.rank;
      missing.device.status = left_some ? DeviceOutcome::incomplete : DeviceOutcome::lost;
      missing.device.reason =
          left_some ? elsewhere : "its rank did not come back, and left no results";
      add(std::move(missing));  // unless it has results at this point
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
