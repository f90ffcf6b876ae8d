// The one way in which kernels are launched.
#pragma once

#include "kernels/placement.hpp"

#include <cuda_runtime_api.h>

namespace sonde::kernels {

/// Sets what the kernel needs of shared memory and queues it.
template <class Parameters>
cudaError_t launch_kernel(void (*kernel)(Parameters), const Parameters& parameters,
                          const LaunchShape& shape, cudaStream_t stream) {
  const auto* function = reinterpret_cast<const void*>(kernel);
  cudaError_t error = cudaFuncSetAttribute(function, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                           static_cast<int>(shape.shared_bytes));
  if (error != cudaSuccess) return error;
  error = cudaFuncSetAttribute(function, cudaFuncAttributePreferredSharedMemoryCarveout,
                               shape.carveout_percent);
  if (error != cudaSuccess) return error;
  kernel<<<shape.grid_blocks, shape.block_threads, shape.shared_bytes, stream>>>(parameters);
  return cudaGetLastError();
}

}  // namespace sonde::kernels
