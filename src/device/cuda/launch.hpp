// The one way in which kernels are launched.
#pragma once

#include "device/cuda/cuda_check.hpp"
#include "kernels/placement.hpp"

#include <cuda_runtime_api.h>

namespace sonde::cuda {

/// How a kernel is launched. `carveout_percent` is the preferred shared part of the L1 array.
struct LaunchShape {
  unsigned grid_blocks = 0;
  unsigned block_threads = 0;
  unsigned shared_bytes = 0;
  int carveout_percent = 0;
};

/// The same without blocks: the kernel is loaded, and does not run.
inline LaunchShape load_only(LaunchShape shape) {
  shape.grid_blocks = 0;
  return shape;
}

/// What the runtime knows a kernel by.
template <class Parameters>
const void* address_of(kernels::Kernel<Parameters> kernel) {
  return reinterpret_cast<const void*>(kernel);
}

/// Sets what the kernel needs of shared memory. That also loads it, which waits for all kernels
/// that run (CUDA programming guide, lazy loading).
/// @param kernel null: there is none
cudaError_t prepare_kernel(const void* kernel, const LaunchShape& shape);

/// The same, and queues it, unless it has no blocks.
cudaError_t launch_kernel(const void* kernel, const void* parameters, const LaunchShape& shape,
                          cudaStream_t stream);

/// @throws DeviceError, DeviceLostError
template <class Parameters>
void launch(kernels::Kernel<Parameters> kernel, const Parameters& parameters,
            const LaunchShape& shape, cudaStream_t stream) {
  SONDE_CUDA_CHECK(launch_kernel(address_of(kernel), &parameters, shape, stream));
}

}  // namespace sonde::cuda
