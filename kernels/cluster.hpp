// The shape of a launch of thread block clusters.
#pragma once

namespace sonde::kernels {

/// `shared_bytes` beyond half of what an SM has keeps a second block away from it.
struct ClusterShape {
  int cluster_blocks = 1;
  unsigned block_threads = 32;
  unsigned shared_bytes = 0;
};

}  // namespace sonde::kernels
