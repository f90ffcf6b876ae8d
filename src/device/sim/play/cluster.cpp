// Thread block clusters on a simulated GPU: which SMs can lie in one.
#include "base/error.hpp"
#include "device/sim/noise.hpp"
#include "device/sim/play/play.hpp"

namespace sonde::sim {
namespace {

std::vector<std::vector<int>> group_by_gpc(const Launch& launch) {
  std::vector<std::vector<int>> groups(static_cast<std::size_t>(launch.model.chip.gpcs));
  for (std::size_t sm = 0; sm < launch.die.sms.size(); ++sm) {
    groups[static_cast<std::size_t>(launch.die.sms[sm].gpc)].push_back(static_cast<int>(sm));
  }
  return groups;
}

}  // namespace

/// Each GPC takes as many clusters as fit; SMs that are left over stay idle in every launch.
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
  std::vector<std::vector<int>> gpcs = group_by_gpc(launch);
  Random random(launch.seed);
  Trace trace;
  int cluster = 0;
  for (int i = 0; i < probe.launches; ++i) {
    shuffle(gpcs, random);
    for (const std::vector<int>& sms : gpcs) {
      const std::size_t used = sms.size() / blocks * blocks;
      for (std::size_t k = 0; k < used; ++k) {
        LaneTrace& lane = trace.lanes.emplace_back();
        lane.sm = sms[k];
        lane.cluster = cluster + static_cast<int>(k / blocks);
      }
      cluster += static_cast<int>(used / blocks);
    }
  }
  return trace;
}

}  // namespace sonde::sim
