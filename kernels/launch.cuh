// The one way in which kernels are launched.
#pragma once

#include "kernels/placement.hpp"

#include <cuda_runtime_api.h>

#include <type_traits>

namespace sonde::kernels {

/// Sets what the kernel needs of shared memory. That also loads it, which waits for all kernels
/// that run (CUDA programming guide, lazy loading).
template <class Parameters>
cudaError_t prepare_kernel(void (*kernel)(Parameters), const LaunchShape& shape) {
  const auto* function = reinterpret_cast<const void*>(kernel);
  const cudaError_t error = cudaFuncSetAttribute(
      function, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shape.shared_bytes));
  if (error != cudaSuccess) return error;
  return cudaFuncSetAttribute(function, cudaFuncAttributePreferredSharedMemoryCarveout,
                              shape.carveout_percent);
}

/// The same, and queues it, unless it has no blocks.
template <class Parameters>
cudaError_t launch_kernel(void (*kernel)(Parameters), const Parameters& parameters,
                          const LaunchShape& shape, cudaStream_t stream) {
  const cudaError_t error = prepare_kernel(kernel, shape);
  if (error != cudaSuccess || shape.grid_blocks == 0) return error;
  kernel<<<shape.grid_blocks, shape.block_threads, shape.shared_bytes, stream>>>(parameters);
  return cudaGetLastError();
}

/// Turns a number known at run time into a template argument.
/// @param make called with the one of `values` that equals `asked`, as a std::integral_constant
/// @return what it returned; null if none is equal
template <class Kernel, int... values, class Make>
Kernel select_kernel(int asked, const Make& make) {
  Kernel kernel = nullptr;
  ((asked == values ? void(kernel = make(std::integral_constant<int, values>{})) : void()), ...);
  return kernel;
}

}  // namespace sonde::kernels
