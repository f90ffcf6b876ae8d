// How many thread block clusters of one shape a GPU takes at once, with one block on each SM.
#pragma once

#include "kernels/cluster.hpp"
#include "trace/inventory.hpp"

#include <cuda_runtime_api.h>

namespace sonde::cuda {

/// Blocks that take more than half of an SM's shared memory: no SM can hold two.
kernels::ClusterShape lone_blocks(const DeviceInfo& info, int cluster_blocks, int block_threads);

/// @param max_active of the kernel to be launched
/// @throws DeviceError if such clusters do not exist, or not one fits
int count_clusters(const DeviceInfo& info, const kernels::ClusterShape& shape,
                   cudaError_t (*max_active)(const kernels::ClusterShape&, int*));

}  // namespace sonde::cuda
