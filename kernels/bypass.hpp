// Warps that share an L1, some of which bypass it (Dai et al., DAC 2016).
#pragma once

#include "kernels/placement.hpp"

#include <cuda_runtime_api.h>

#include <cstdint>

namespace sonde::kernels {

struct BypassLaunch {
  Placement placement;
  const void* base = nullptr;        // zeros over all that is read
  LaneResult* results = nullptr;     // [rank * warps + warp]
  std::uint16_t* records = nullptr;  // [(rank * warps + warp) * accesses]
  std::uint32_t working_set_bytes = 0;
  std::uint32_t access_step_bytes = 0;  // below working_set_bytes; their sum is below 2^32
  std::uint64_t warp_base_step_bytes = 0;
  std::uint64_t thread_stride_bytes = 0;
  std::uint64_t warmup = 0;
  std::uint32_t accesses = 0;
  std::uint32_t warps = 1;
  std::uint32_t cached_warps = 0;
};

/// Sinks and records of one block.
unsigned bypass_shared_bytes(const BypassLaunch& launch);

/// Queues one block of `warps` warps on every wanted SM; the first `cached_warps` load with ca, the
/// others with cg.
cudaError_t launch_bypass(const BypassLaunch& launch, const LaunchShape& shape,
                          cudaStream_t stream);

}  // namespace sonde::kernels
