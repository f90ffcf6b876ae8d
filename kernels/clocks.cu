// Timestamps of the SM clock and the device-wide timer, and clusters. One thread reads both clocks
// back to back; source of error: preemption (the SM is checked at the end). Clusters need large
// shared memory, so that no SM gets two blocks.
#include "kernels/clocks.hpp"
#include "kernels/cluster.cuh"
#include "kernels/placement.cuh"

namespace sonde::kernels {
namespace {

__global__ void timestamp_kernel(const __grid_constant__ TimestampLaunch launch) {
  extern __shared__ ClockReading shared_pairs[];
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
  if (threadIdx.x > 0) return;
  launch.blocks[blockIdx.x] = {read_sm(), read_cluster()};
  atomicAdd(launch.arrived, 1u);
  wait_for(*launch.arrived, gridDim.x, Deadline(launch.limit_ns), 200);
}

}  // namespace

const Kernel<TimestampLaunch> timestamps = timestamp_kernel;
const Kernel<ClusterLaunch> clusters = cluster_kernel;

}  // namespace sonde::kernels
