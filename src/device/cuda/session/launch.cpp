// Asks for the division of the L1 that a launch wants, then launches.
#include "device/cuda/session/launch.hpp"

namespace sonde::cuda {

cudaError_t prepare_kernel(const void* kernel, const LaunchShape& shape) {
  if (kernel == nullptr) return cudaErrorInvalidValue;
  const cudaError_t error = cudaFuncSetAttribute(
      kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shape.shared_bytes));
  if (error != cudaSuccess) return error;
  return cudaFuncSetAttribute(kernel, cudaFuncAttributePreferredSharedMemoryCarveout,
                              shape.carveout_percent);
}

cudaError_t launch_kernel(const void* kernel, const void* parameters, const LaunchShape& shape,
                          cudaStream_t stream) {
  const cudaError_t error = prepare_kernel(kernel, shape);
  if (error != cudaSuccess || shape.grid_blocks == 0) return error;
  void* arguments[]{const_cast<void*>(parameters)};
  cudaLaunchKernel(kernel, shape.grid_blocks, shape.block_threads, arguments, shape.shared_bytes,
                   stream);
  return cudaGetLastError();
}

}  // namespace sonde::cuda
