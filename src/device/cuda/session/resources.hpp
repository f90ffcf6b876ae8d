// Owners of CUDA streams, events and memory, which free them in their destructors.
#pragma once

#include "device/cuda/session/cuda_check.hpp"

#include <cstddef>
#include <cstdint>

namespace sonde::cuda {

class Stream {
 public:
  Stream() { SONDE_CUDA_CHECK(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking)); }
  ~Stream() { SONDE_CUDA_WARN(cudaStreamDestroy(stream_)); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  cudaStream_t get() const { return stream_; }

 private:
  cudaStream_t stream_ = nullptr;
};

class Event {
 public:
  Event() { SONDE_CUDA_CHECK(cudaEventCreate(&event_)); }
  ~Event() { SONDE_CUDA_WARN(cudaEventDestroy(event_)); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  cudaEvent_t get() const { return event_; }

 private:
  cudaEvent_t event_ = nullptr;
};

/// Time between two events that have come.
inline double elapsed_ns(const Event& begin, const Event& end) {
  float elapsed_ms = 0;
  SONDE_CUDA_CHECK(cudaEventElapsedTime(&elapsed_ms, begin.get(), end.get()));
  return static_cast<double>(elapsed_ms) * 1e6;
}

enum class Where { device, pinned_host };

/// Memory that only grows. Growing loses the content.
template <Where where>
class Buffer {
 public:
  Buffer() = default;
  ~Buffer() { release(); }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  /// @return false if there is not that much memory; the buffer is then empty
  bool try_reserve(std::uint64_t size_bytes) {
    if (size_bytes <= size_bytes_) return true;
    release();
    const cudaError_t error = allocate(size_bytes);
    if (error == cudaErrorMemoryAllocation) {
      cudaGetLastError();
      return false;
    }
    SONDE_CUDA_CHECK(error);
    size_bytes_ = size_bytes;
    return true;
  }
  /// @throws DeviceError if there is not that much memory
  void reserve(std::uint64_t size_bytes) {
    if (!try_reserve(size_bytes)) throw_cuda_error(cudaErrorMemoryAllocation, "allocation");
  }
  void release() {
    if (pointer_ == nullptr) return;
    if constexpr (where == Where::device) {
      SONDE_CUDA_WARN(cudaFree(pointer_));
    } else {
      SONDE_CUDA_WARN(cudaFreeHost(pointer_));
    }
    pointer_ = nullptr;
    size_bytes_ = 0;
  }
  template <class T = void>
  T* get() const {
    return static_cast<T*>(pointer_);
  }
  std::uint64_t size_bytes() const { return size_bytes_; }

 private:
  cudaError_t allocate(std::uint64_t size_bytes) {
    if constexpr (where == Where::pinned_host) return cudaMallocHost(&pointer_, size_bytes);
    cudaError_t error = cudaMalloc(&pointer_, size_bytes);
    // Zeroed, as kernels read memory that nobody wrote to push other data out of caches, and must
    // not see what another process left. The host waits, as other streams do not wait for this one.
    if (error == cudaSuccess) error = cudaMemset(pointer_, 0, size_bytes);
    if (error == cudaSuccess) error = cudaStreamSynchronize(nullptr);
    return error;
  }
  void* pointer_ = nullptr;
  std::uint64_t size_bytes_ = 0;
};

using DeviceBuffer = Buffer<Where::device>;
using PinnedBuffer = Buffer<Where::pinned_host>;

}  // namespace sonde::cuda
