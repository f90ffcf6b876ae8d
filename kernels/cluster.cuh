// Registers and barriers of a cluster, which is one block below compute capability 9.0.
#pragma once

#include "kernels/timing.cuh"

#include <cstdint>

namespace sonde::kernels {

__device__ __forceinline__ std::uint32_t read_cluster() {
  std::uint32_t cluster = 0;
#if __CUDA_ARCH__ >= 900
  asm volatile("mov.u32 %0, %%clusterid.x;" : "=r"(cluster));
#endif
  return cluster;
}

#if __CUDA_ARCH__ >= 900

__device__ __forceinline__ std::uint32_t read_cluster_rank() {
  std::uint32_t rank;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}

__device__ __forceinline__ std::uint32_t read_cluster_blocks() {
  std::uint32_t blocks;
  asm volatile("mov.u32 %0, %%cluster_nctarank;" : "=r"(blocks));
  return blocks;
}

/// Generic address of the same offset in the shared memory of the block with this rank.
__device__ __forceinline__ std::uint64_t map_to_rank(const void* own, std::uint32_t rank) {
  std::uint64_t address;
  asm volatile("mapa.u64 %0, %1, %2;" : "=l"(address) : "l"(own), "r"(rank));
  return address;
}

/// Waits for all threads of the cluster; makes their earlier writes visible.
__device__ __forceinline__ void sync_cluster() {
  asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
  asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
}

#endif

}  // namespace sonde::kernels
