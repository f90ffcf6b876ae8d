// Thread block clusters on a simulated GPU: which SMs can form one.
#include "base/random.hpp"
#include "device/sim/play/play.hpp"

#include <algorithm>

namespace sonde::sim {
namespace {

/// Groups of SMs that may form clusters, TPC after TPC: the SMs of a GPC without its lone TPCs, and
/// each lone TPC alone.
std::vector<std::vector<int>> cluster_groups(const Launch& launch) {
  const ChipModel& chip = launch.model.chip;
  const int first_lone = chip.enabled_tpcs - chip.lone_tpcs;
  std::vector<std::vector<int>> groups(static_cast<std::size_t>(chip.gpcs + chip.lone_tpcs));
  for (std::size_t sm = 0; sm < launch.die.sms.size(); ++sm) {
    const DieSm& place = launch.die.sms[sm];
    const int group = place.tpc < first_lone ? place.gpc : chip.gpcs + place.tpc - first_lone;
    groups[static_cast<std::size_t>(group)].push_back(static_cast<int>(sm));
  }
  std::erase_if(groups, [](const std::vector<int>& sms) { return sms.empty(); });
  return groups;
}

/// Puts a group into the order in which one launch fills it.
void reorder(const ChipModel& chip, std::vector<int>& sms, Random& random) {
  if (chip.cluster_order == ClusterOrder::any) return shuffle(sms, random);
  const std::size_t tpcs = sms.size() / static_cast<std::size_t>(chip.sms_per_tpc);
  const std::size_t start = random.below(tpcs) * static_cast<std::size_t>(chip.sms_per_tpc);
  std::ranges::rotate(sms, sms.begin() + static_cast<std::ptrdiff_t>(start));
}

}  // namespace

std::vector<std::vector<int>> fill_with_clusters(const Launch& launch, int cluster_blocks,
                                                 int launches) {
  const int most = launch.die.info.max_cluster_blocks;
  if (most == 0) {
    throw DeviceError("no thread block clusters (compute capability below 9.0)");
  }
  if (cluster_blocks > most) {
    throw DeviceError("clusters of " + std::to_string(cluster_blocks) +
                      " blocks do not exist (the most is " + std::to_string(most) + ")");
  }
  const auto blocks = static_cast<std::ptrdiff_t>(cluster_blocks);
  Random random(launch.seed);
  std::vector<std::vector<int>> groups = cluster_groups(launch);
  std::vector<std::vector<int>> clusters;
  for (int i = 0; i < launches; ++i) {
    shuffle(groups, random);
    for (std::vector<int>& sms : groups) {
      reorder(launch.model.chip, sms, random);
      for (auto at = sms.begin(); sms.end() - at >= blocks; at += blocks) {
        clusters.emplace_back(at, at + blocks);
      }
    }
  }
  if (clusters.empty()) {
    throw DeviceError("no cluster of " + std::to_string(cluster_blocks) +
                      " blocks fits (no GPC has so many SMs) ask for smaller ones");
  }
  return clusters;
}

Trace play(const Launch& launch, const ClusterProbe& probe) {
  Trace trace;
  int number = 0;
  for (const auto& cluster : fill_with_clusters(launch, probe.cluster_blocks, probe.launches)) {
    for (int sm : cluster) add_lane(trace, sm).cluster = number;
    ++number;
  }
  return trace;
}

}  // namespace sonde::sim
