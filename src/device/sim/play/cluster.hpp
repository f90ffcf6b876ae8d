// Which SMs a simulated GPU puts into thread block clusters.
#pragma once

#include "base/random.hpp"
#include "device/sim/play/launch.hpp"

#include <vector>

namespace sonde::sim {

/// Fills the GPU with clusters, again and again, each time in another order.
class ClusterScheduler {
 public:
  explicit ClusterScheduler(const Launch& launch);

  /// As many clusters as fit, the SM of each rank. SMs that are left over stay idle.
  /// @throws DeviceError if there are no such clusters, or not one fits
  std::vector<std::vector<int>> fill(int cluster_blocks);

 private:
  void refuse(int cluster_blocks) const;

  const Launch& launch_;
  std::vector<std::vector<int>> groups_;
  Random random_;
};

}  // namespace sonde::sim
