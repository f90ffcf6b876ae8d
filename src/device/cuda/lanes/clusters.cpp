// Refuses clusters that a GPU cannot run, counts those that it runs at once, and launches them.
#include "device/cuda/lanes/clusters.hpp"

#include "device/device_error.hpp"

namespace sonde::cuda {
namespace {

unsigned block_shared_bytes(const DeviceInfo& info) {
  return static_cast<unsigned>(info.shared_bytes_per_block);
}

void allow_large_clusters(const DeviceInfo& info, const void* kernel) {
  SONDE_CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                        static_cast<int>(block_shared_bytes(info))));
  // More than 8 blocks are not portable, but Hopper takes 16 (CUDA programming guide).
  SONDE_CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
}

/// @param attribute must outlive the result
cudaLaunchConfig_t configure(const DeviceInfo& info, const Clusters& clusters,
                             cudaLaunchAttribute& attribute, cudaStream_t stream) {
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim.x = static_cast<unsigned>(clusters.cluster_blocks);
  attribute.val.clusterDim.y = 1;
  attribute.val.clusterDim.z = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(static_cast<unsigned>(clusters.blocks()));
  config.blockDim = dim3(static_cast<unsigned>(clusters.block_threads));
  config.dynamicSmemBytes = block_shared_bytes(info);
  config.stream = stream;
  config.attrs = &attribute;
  config.numAttrs = 1;
  return config;
}

}  // namespace

Clusters count_clusters(const DeviceInfo& info, const void* kernel, int cluster_blocks,
                        int block_threads) {
  if (cluster_blocks > info.max_cluster_blocks) {
    throw_device_error(
        "clusters of {} blocks do not exist on this GPU (at most {}). Ask for smaller ones",
        cluster_blocks, info.max_cluster_blocks);
  }
  Clusters clusters{.cluster_blocks = cluster_blocks, .block_threads = block_threads, .count = 1};
  allow_large_clusters(info, kernel);
  cudaLaunchAttribute attribute{};
  const cudaLaunchConfig_t config = configure(info, clusters, attribute, nullptr);
  SONDE_CUDA_CHECK(cudaOccupancyMaxActiveClusters(&clusters.count, kernel, &config));
  if (clusters.count == 0) {
    throw_device_error(
        "no cluster of {} blocks fits on this GPU (no GPC has so many SMs). Ask for smaller ones",
        cluster_blocks);
  }
  return clusters;
}

void launch_clusters(Session& session, const Clusters& clusters, const void* kernel,
                     const void* parameters) {
  allow_large_clusters(session.info(), kernel);
  cudaLaunchAttribute attribute{};
  const cudaLaunchConfig_t config =
      configure(session.info(), clusters, attribute, session.stream());
  void* arguments[]{const_cast<void*>(parameters)};
  SONDE_CUDA_CHECK(cudaLaunchKernelExC(&config, kernel, arguments));
}

ClusterLanes::ClusterLanes(Session& session, const Clusters& clusters, int lanes_per_block)
    : session_(session),
      clusters_(clusters),
      state_(session.arrays().add_output<kernels::PlacementState>(1)),
      results_(session.arrays().add_output<kernels::LaneResult>(
          clusters.blocks() * static_cast<std::uint64_t>(lanes_per_block))) {}

Trace ClusterLanes::read(std::uint64_t accesses) const {
  Trace trace;
  trace.shared_carveout_bytes = session_.info().largest_carveout_bytes();
  const std::size_t lanes_per_cluster = count() / static_cast<std::size_t>(clusters_.count);
  for (std::size_t i = 0; i < count(); ++i) {
    const kernels::LaneResult& result = results_.host[i];
    LaneTrace& lane = trace.lanes.emplace_back();
    lane.sm = static_cast<int>(result.sm);
    check_lane(result, lane.sm);
    check_value(result, 0, i);
    lane.cluster = static_cast<int>(i / lanes_per_cluster);
    lane.elapsed_cycles = result.elapsed_cycles;
    lane.accesses = accesses;
  }
  return trace;
}

}  // namespace sonde::cuda
