// Refuses clusters that a GPU does not run, and counts those that it runs at once.
#include "device/cuda/clusters.hpp"

#include "device/cuda/cuda_check.hpp"
#include "device/device_error.hpp"

namespace sonde::cuda {

kernels::ClusterShape lone_blocks(const DeviceInfo& info, int cluster_blocks, int block_threads) {
  return {.cluster_blocks = cluster_blocks,
          .block_threads = static_cast<unsigned>(block_threads),
          .shared_bytes = static_cast<unsigned>(info.shared_bytes_per_block)};
}

int count_clusters(const DeviceInfo& info, const kernels::ClusterShape& shape,
                   cudaError_t (*max_active)(const kernels::ClusterShape&, int*)) {
  if (shape.cluster_blocks > info.max_cluster_blocks) {
    throw_device_error(
        "clusters of {} blocks do not exist on this GPU (at most {}). Ask for smaller ones",
        shape.cluster_blocks, info.max_cluster_blocks);
  }
  int clusters = 0;
  SONDE_CUDA_CHECK(max_active(shape, &clusters));
  if (clusters == 0) {
    throw_device_error(
        "no cluster of {} blocks fits on this GPU (no GPC has so many SMs). Ask for smaller ones",
        shape.cluster_blocks);
  }
  return clusters;
}

}  // namespace sonde::cuda
