// Clocks of chosen SMs against the device-wide timer, and which SMs a thread block cluster lands
// on.
#pragma once

#include "kernels/cluster.hpp"
#include "kernels/placement.hpp"

#include <cuda_runtime_api.h>

#include <cstdint>

namespace sonde::kernels {

/// A pair takes 16 bytes of shared memory until the block writes it out.
struct TimestampPair {
  std::uint64_t clock_cycles;
  std::uint64_t globaltimer_ns;
};

struct TimestampLaunch {
  Placement placement;
  LaneResult* results = nullptr;   // [rank]
  TimestampPair* pairs = nullptr;  // [rank * samples]
  std::uint32_t samples = 0;
};

/// Queues dense pairs of clock reads on every wanted SM, started together.
cudaError_t launch_timestamps(const TimestampLaunch& launch, const LaunchShape& shape,
                              cudaStream_t stream);

struct ClusterBlock {
  std::uint32_t sm;
  std::uint32_t cluster;
};

struct ClusterLaunch {
  ClusterBlock* blocks = nullptr;    // [grid]
  std::uint32_t* arrived = nullptr;  // zero
  std::uint64_t limit_ns = 0;
};

/// Clusters of that shape which can be on the device at once, one block per SM. 0: none.
cudaError_t max_active_clusters(const ClusterShape& shape, int* clusters);

/// Queues clusters whose blocks hold their SMs until all have said where they are.
cudaError_t launch_clusters(const ClusterLaunch& launch, const ClusterShape& shape, int clusters,
                            cudaStream_t stream);

}  // namespace sonde::kernels
