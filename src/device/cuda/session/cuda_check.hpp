// Turns CUDA errors into exceptions, or into warnings.
#pragma once

#include <cuda_runtime_api.h>

namespace sonde::cuda {

/// @throws DeviceLostError if this process can no more use the device, else DeviceError
[[noreturn]] void throw_cuda_error(cudaError_t error, const char* call);

/// For destructors: one line on stderr.
void warn_cuda_error(cudaError_t error, const char* call) noexcept;

}  // namespace sonde::cuda

#define SONDE_CUDA_CHECK(call)                                                           \
  do {                                                                                   \
    const cudaError_t sonde_error = (call);                                              \
    if (sonde_error != cudaSuccess) ::sonde::cuda::throw_cuda_error(sonde_error, #call); \
  } while (false)

#define SONDE_CUDA_WARN(call)                                                           \
  do {                                                                                  \
    const cudaError_t sonde_error = (call);                                             \
    if (sonde_error != cudaSuccess) ::sonde::cuda::warn_cuda_error(sonde_error, #call); \
  } while (false)
