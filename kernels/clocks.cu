// Timestamps of SM clock and device-wide timer, and clusters. A timestamp pair is read back to back
// by one thread; what could spoil it is preemption (the SM is checked at the end). Clusters need
// large shared memory, so that no SM gets two blocks.
#include "kernels/clocks.hpp"
#include "kernels/launch.cuh"
#include "kernels/placement.cuh"

namespace sonde::kernels {
namespace {

__global__ void timestamp_kernel(const __grid_constant__ TimestampLaunch launch) {
  extern __shared__ TimestampPair shared_pairs[];
  const int rank = hold_wanted_sm(launch.placement);
  if (rank < 0) return;
  if (threadIdx.x == 0) {
    const Deadline deadline(launch.placement.limit_ns);
    const std::uint32_t sm = read_sm();
    const bool in_time = start_together(launch.placement, launch.placement.wanted, deadline);
    const std::uint64_t begin = read_clock();
#pragma unroll 1
    for (std::uint32_t i = 0; i < launch.samples; ++i) {
      const std::uint64_t clock_cycles = read_clock();
      const std::uint64_t globaltimer_ns = read_globaltimer();
      shared_pairs[i] = {clock_cycles, globaltimer_ns};
    }
    const std::uint64_t end = read_clock();
    launch.results[rank] = {lane_status(in_time, sm), sm, end - begin, 0};
  }
  __syncthreads();
  for (std::uint32_t i = threadIdx.x; i < launch.samples; i += blockDim.x) {
    launch.pairs[static_cast<std::uint64_t>(rank) * launch.samples + i] = shared_pairs[i];
  }
}

__global__ void cluster_kernel(const __grid_constant__ ClusterLaunch launch) {
  std::uint32_t cluster = 0;
#if __CUDA_ARCH__ >= 900
  asm volatile("mov.u32 %0, %%clusterid.x;" : "=r"(cluster));
#endif
  if (threadIdx.x > 0) return;
  launch.blocks[blockIdx.x] = {read_sm(), cluster};
  atomicAdd(launch.arrived, 1u);
  wait_for(*launch.arrived, gridDim.x, Deadline(launch.limit_ns), 200);
}

struct ClusterConfig {
  cudaLaunchAttribute attribute{};
  cudaLaunchConfig_t config{};
  ClusterConfig(int cluster_blocks, unsigned grid_blocks, unsigned shared_bytes,
                cudaStream_t stream) {
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim.x = static_cast<unsigned>(cluster_blocks);
    attribute.val.clusterDim.y = 1;
    attribute.val.clusterDim.z = 1;
    config.gridDim = dim3(grid_blocks);
    config.blockDim = dim3(32);
    config.dynamicSmemBytes = shared_bytes;
    config.stream = stream;
    config.attrs = &attribute;
    config.numAttrs = 1;
  }
};

cudaError_t allow_large_clusters(unsigned shared_bytes) {
  const cudaError_t error = cudaFuncSetAttribute(
      cluster_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shared_bytes));
  if (error != cudaSuccess) return error;
  // More than 8 blocks are not portable, but Hopper takes 16 (CUDA programming guide).
  return cudaFuncSetAttribute(cluster_kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1);
}

}  // namespace

cudaError_t launch_timestamps(const TimestampLaunch& launch, const LaunchShape& shape,
                              cudaStream_t stream) {
  return launch_kernel(timestamp_kernel, launch, shape, stream);
}

cudaError_t max_active_clusters(int cluster_blocks, unsigned shared_bytes, int* clusters) {
  const cudaError_t error = allow_large_clusters(shared_bytes);
  if (error != cudaSuccess) return error;
  const ClusterConfig setup(cluster_blocks, static_cast<unsigned>(cluster_blocks), shared_bytes,
                            nullptr);
  return cudaOccupancyMaxActiveClusters(clusters, cluster_kernel, &setup.config);
}

cudaError_t launch_clusters(const ClusterLaunch& launch, int cluster_blocks, int clusters,
                            unsigned shared_bytes, cudaStream_t stream) {
  const cudaError_t error = allow_large_clusters(shared_bytes);
  if (error != cudaSuccess) return error;
  const ClusterConfig setup(cluster_blocks, static_cast<unsigned>(cluster_blocks * clusters),
                            shared_bytes, stream);
  return cudaLaunchKernelEx(&setup.config, cluster_kernel, launch);
}

}  // namespace sonde::kernels
