// Decides which CUDA errors end a probe, and which end all work on the GPU.
#include "device/cuda/session/cuda_check.hpp"

#include "base/error.hpp"
#include "base/failure_marks.hpp"

#include <fmt/core.h>

#include <cstdio>

namespace sonde::cuda {
namespace {

/// Errors that leave the context usable; all others stay until the process ends (CUDA runtime API,
/// cudaError: "the only way to continue is to terminate and relaunch the process").
bool is_recoverable(cudaError_t error) {
  switch (error) {
    case cudaErrorInvalidValue:
    case cudaErrorMemoryAllocation:
    case cudaErrorInvalidConfiguration:
    case cudaErrorInvalidDevice:
    case cudaErrorInvalidDeviceFunction:
    case cudaErrorInvalidResourceHandle:
    case cudaErrorLaunchOutOfResources:
    case cudaErrorInvalidClusterSize:
    case cudaErrorInvalidDevicePointer:
    case cudaErrorNotSupported:
    case cudaErrorNotReady: return true;
    default: return false;
  }
}

}  // namespace

void throw_cuda_error(cudaError_t error, const char* call) {
  cudaGetLastError();  // clear it, so that the next launch does not report it again
  const std::string what = fmt::format("CUDA call {} failed: {} ({})", call,
                                       cudaGetErrorString(error), cudaGetErrorName(error));
  if (is_recoverable(error)) throw DeviceError(what);
  throw DeviceLostError(
      fmt::format("{} ({}: no further probe can run on this GPU in this process). "
                  "See dmesg for Xid messages",
                  what, sticky_error_mark));
}

void warn_cuda_error(cudaError_t error, const char* call) noexcept {
  if (error == cudaErrorCudartUnloading) return;  // the process ends and frees everything anyway
  std::fprintf(stderr, "sonde: %s failed while cleaning up: %s\n", call, cudaGetErrorString(error));
}

}  // namespace sonde::cuda
