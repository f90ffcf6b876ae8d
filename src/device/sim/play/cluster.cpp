// Thread block clusters on a simulated GPU: which SMs can lie in one.
#include "base/error.hpp"
#include "device/sim/noise.hpp"
#include "device/sim/play/play.hpp"

#include <algorithm>

namespace sonde::sim {
namespace {

/// SMs of which the scheduler may put any into one cluster, TPC after TPC: those of a GPC, less its
/// lone TPCs, of which each is a group of its own.
std::vector<std::vector<int>> cluster_groups(const Launch& launch) {
  const ChipModel& chip = launch.model.chip;
  const int first_lone = chip.enabled_tpcs - chip.lone_tpcs;
  std::vector<std::vector<int>> groups(static_cast<std::size_t>(chip.gpcs + chip.lone_tpcs));
  for (std::size_t sm = 0; sm < launch.die.sms.size(); ++sm) {
    const SmPlace& place = launch.die.sms[sm];
    const int group = place.tpc < first_lone ? place.gpc : chip.gpcs + place.tpc - first_lone;
    groups[static_cast<std::size_t>(group)].push_back(static_cast<int>(sm));
  }
  std::erase_if(groups, [](const std::vector<int>& sms) { return sms.empty(); });
  return groups;
}

/// The order in which one launch fills a group.
void reorder(const ChipModel& chip, std::vector<int>& sms, Random& random) {
  if (chip.cluster_order == ClusterOrder::any) return shuffle(sms, random);
  const std::size_t tpcs = sms.size() / static_cast<std::size_t>(chip.sms_per_tpc);
  const std::size_t start = random.below(tpcs) * static_cast<std::size_t>(chip.sms_per_tpc);
  std::ranges::rotate(sms, sms.begin() + static_cast<std::ptrdiff_t>(start));
}

}  // namespace

/// Each GPC takes as many clusters as fit; SMs that are left over stay idle in this launch.
Trace play(const Launch& launch, const ClusterProbe& probe) {
  const int most = launch.die.info.max_cluster_blocks;
  if (most == 0) {
    throw DeviceError("no thread block clusters (compute capability below 9.0)");
  }
  if (probe.cluster_blocks > most) {
    throw DeviceError("clusters of " + std::to_string(probe.cluster_blocks) +
                      " blocks do not exist (the most is " + std::to_string(most) + ")");
  }
  const auto blocks = static_cast<std::size_t>(probe.cluster_blocks);
  std::vector<std::vector<int>> groups = cluster_groups(launch);
  Random random(launch.seed);
  Trace trace;
  int cluster = 0;
  for (int i = 0; i < probe.launches; ++i) {
    shuffle(groups, random);
    for (std::vector<int>& sms : groups) {
      reorder(launch.model.chip, sms, random);
      const std::size_t used = sms.size() / blocks * blocks;
      for (std::size_t k = 0; k < used; ++k) {
        LaneTrace& lane = trace.lanes.emplace_back();
        lane.sm = sms[k];
        lane.cluster = cluster + static_cast<int>(k / blocks);
      }
      cluster += static_cast<int>(used / blocks);
    }
  }
  if (trace.lanes.empty()) {
    throw DeviceError("no cluster of " + std::to_string(probe.cluster_blocks) +
                      " blocks fits (no GPC has so many SMs) ask for smaller ones");
  }
  return trace;
}

}  // namespace sonde::sim
