// Launches of thread block clusters, as many as a GPU takes at once, with one block on each SM.
#pragma once

#include "device/cuda/lanes/lane_launch.hpp"

namespace sonde::cuda {

/// Clusters whose blocks take so much shared memory that no SM can hold two.
struct Clusters {
  int cluster_blocks = 1;
  int block_threads = 32;
  int count = 0;  // that the GPU takes at once

  std::uint64_t blocks() const {
    return static_cast<std::uint64_t>(count) * static_cast<std::uint64_t>(cluster_blocks);
  }
};

/// Counts the clusters that the GPU takes at once. @param kernel to be launched
/// @throws DeviceError if such clusters do not exist, or not one fits
Clusters count_clusters(const DeviceInfo& info, const void* kernel, int cluster_blocks,
                        int block_threads);

/// Queues one kernel over all clusters.
void launch_clusters(Session& session, const Clusters& clusters, const void* kernel,
                     const void* parameters);

/// The lanes of a launch of clusters, the same number for each block.
class ClusterLanes {
 public:
  /// Adds its arrays to those of the session.
  ClusterLanes(Session& session, const Clusters& clusters, int lanes_per_block = 1);

  /// Launches the kernel on the clusters, and reads the lanes.
  /// @param accesses of each lane
  /// @throws DeviceError if a lane did not run to its end, or its final value is not 0
  template <class Launch>
  Trace run(kernels::Kernel<Launch> kernel, Launch& launch, TimeLimit limit,
            std::uint64_t accesses) const {
    launch.common = {
        .state = state_.device, .results = results_.device, .limit_ns = limit.kernel_ns()};
    session_.run(limit, [&] {
      session_.arrays().clear(state_);
      session_.arrays().clear(results_);
      launch_clusters(session_, clusters_, address_of(kernel), &launch);
    });
    return read(accesses);
  }

  std::uint64_t count() const { return results_.host.size(); }

 private:
  Trace read(std::uint64_t accesses) const;

  Session& session_;
  Clusters clusters_;
  Output<kernels::PlacementState> state_;
  Output<kernels::LaneResult> results_;
};

}  // namespace sonde::cuda
