// How kernels are launched as thread block clusters, and what their blocks ask of the cluster.
// Below compute capability 9.0 there are none: a cluster is one block then.
#pragma once

#include "kernels/cluster.hpp"
#include "kernels/timing.cuh"

#include <cuda_runtime_api.h>

#include <cstdint>

namespace sonde::kernels {

/// Number of the cluster that this block belongs to.
__device__ __forceinline__ std::uint32_t read_cluster() {
  std::uint32_t cluster = 0;
#if __CUDA_ARCH__ >= 900
  asm volatile("mov.u32 %0, %%clusterid.x;" : "=r"(cluster));
#endif
  return cluster;
}

#if __CUDA_ARCH__ >= 900

/// Rank of this block in its cluster.
__device__ __forceinline__ std::uint32_t read_cluster_rank() {
  std::uint32_t rank;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}

/// Blocks of the cluster.
__device__ __forceinline__ std::uint32_t read_cluster_blocks() {
  std::uint32_t blocks;
  asm volatile("mov.u32 %0, %%cluster_nctarank;" : "=r"(blocks));
  return blocks;
}

/// Generic address of the same place in the shared memory of the block of that rank.
__device__ __forceinline__ std::uint64_t map_to_rank(const void* own, std::uint32_t rank) {
  std::uint64_t address;
  asm volatile("mapa.u64 %0, %1, %2;" : "=l"(address) : "l"(own), "r"(rank));
  return address;
}

/// Waits for all threads of the cluster; what they wrote before can be read behind it.
__device__ __forceinline__ void sync_cluster() {
  asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
  asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
}

#endif

/// What the launch of clusters is described by, for as long as it lives.
class ClusterConfig {
 public:
  ClusterConfig(const ClusterShape& shape, int clusters, cudaStream_t stream) {
    attribute_.id = cudaLaunchAttributeClusterDimension;
    attribute_.val.clusterDim.x = static_cast<unsigned>(shape.cluster_blocks);
    attribute_.val.clusterDim.y = 1;
    attribute_.val.clusterDim.z = 1;
    config_.gridDim = dim3(static_cast<unsigned>(shape.cluster_blocks * clusters));
    config_.blockDim = dim3(shape.block_threads);
    config_.dynamicSmemBytes = shape.shared_bytes;
    config_.stream = stream;
    config_.attrs = &attribute_;
    config_.numAttrs = 1;
  }
  ClusterConfig(const ClusterConfig&) = delete;
  ClusterConfig& operator=(const ClusterConfig&) = delete;
  const cudaLaunchConfig_t* get() const { return &config_; }

 private:
  cudaLaunchAttribute attribute_{};
  cudaLaunchConfig_t config_{};
};

template <class Parameters>
cudaError_t allow_large_clusters(void (*kernel)(Parameters), const ClusterShape& shape) {
  const auto* function = reinterpret_cast<const void*>(kernel);
  const cudaError_t error = cudaFuncSetAttribute(
      function, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shape.shared_bytes));
  if (error != cudaSuccess) return error;
  // More than 8 blocks are not portable, but Hopper takes 16 (CUDA programming guide).
  return cudaFuncSetAttribute(function, cudaFuncAttributeNonPortableClusterSizeAllowed, 1);
}

/// Clusters of that shape that can be on the device at once. 0: none.
template <class Parameters>
cudaError_t count_active_clusters(void (*kernel)(Parameters), const ClusterShape& shape,
                                  int* clusters) {
  const cudaError_t error = allow_large_clusters(kernel, shape);
  if (error != cudaSuccess) return error;
  const ClusterConfig config(shape, 1, nullptr);
  return cudaOccupancyMaxActiveClusters(clusters, kernel, config.get());
}

/// Queues so many clusters.
template <class Parameters>
cudaError_t launch_cluster_kernel(void (*kernel)(Parameters), const Parameters& parameters,
                                  const ClusterShape& shape, int clusters, cudaStream_t stream) {
  const cudaError_t error = allow_large_clusters(kernel, shape);
  if (error != cudaSuccess) return error;
  const ClusterConfig config(shape, clusters, stream);
  return cudaLaunchKernelEx(config.get(), kernel, parameters);
}

}  // namespace sonde::kernels
