// Groups of SMs by union and by constant partners.
#include "analysis/topology.hpp"

#include <map>

namespace sonde {
std::vector<Cluster> collect_clusters(const std::vector<LaneTrace>& lanes, int cluster_blocks) {
  std::vector<Cluster> clusters;
  std::map<int, std::size_t> open;  // from a cluster number to an index in `clusters`
  for (const LaneTrace& lane : lanes) {
    if (lane.cluster < 0 || lane.sm < 0) continue;
    auto place = open.find(lane.cluster);
    if (place == open.end() ||
        clusters[place->second].size() >= static_cast<std::size_t>(cluster_blocks)) {
      place = open.insert_or_assign(lane.cluster, clusters.size()).first;
      clusters.emplace_back();
    }
    clusters[place->second].push_back(lane.sm);
  }
  return clusters;
}

SmGroups make_groups(const std::vector<int>& group_of_sm, Singles singles) {
  std::map<int, int> members;
  for (int group : group_of_sm) {
    if (group >= 0) ++members[group];
  }
  SmGroups result;
  std::map<int, int> number;
  for (int group : group_of_sm) {
    if (group < 0 || (singles == Singles::drop && members[group] < 2)) {
      result.group_of_sm.push_back(-1);
      continue;
    }
    const auto [place, is_new] = number.try_emplace(group, static_cast<int>(number.size()));
    if (is_new) result.sizes.push_back(members[group]);
    result.group_of_sm.push_back(place->second);
  }
  return result;
}

std::vector<std::vector<int>> sms_by_group(const SmGroups& groups) {
  std::vector<std::vector<int>> sms(groups.sizes.size());
  for (std::size_t sm = 0; sm < groups.group_of_sm.size(); ++sm) {
    const int group = groups.group_of_sm[sm];
    if (group >= 0) sms[static_cast<std::size_t>(group)].push_back(static_cast<int>(sm));
  }
  return sms;
}

}  // namespace sonde
