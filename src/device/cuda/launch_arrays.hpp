// The arrays of one launch: what its kernels read, and what they write. All inputs lie in one piece
// of memory, all outputs in another, each on the host and on the GPU; the session moves them.
#pragma once

#include "base/error.hpp"
#include "device/cuda/resources.hpp"

#include <algorithm>
#include <cstddef>
#include <span>

namespace sonde::cuda {

/// An array that the host fills and kernels read.
template <class T>
struct Input {
  std::uint64_t offset_bytes = 0;
  std::uint64_t count = 0;
};

/// An array that kernels write and the host reads.
template <class T>
struct Output {
  std::uint64_t offset_bytes = 0;
  std::uint64_t count = 0;
};

/// Memory of equal layout on the host and on the device. It only grows: pinned memory is slow to
/// get.
class MirroredMemory {
 public:
  void clear() {
    used_bytes_ = 0;
    fixed_ = false;
  }
  /// @return the offset of a new piece
  std::uint64_t add(std::uint64_t size_bytes) {
    require(!fixed_, "an array was added to a launch after another one was used");
    const std::uint64_t offset_bytes = used_bytes_;
    used_bytes_ += (size_bytes + alignment - 1) / alignment * alignment;
    return offset_bytes;
  }
  std::byte* host(std::uint64_t offset_bytes) {
    fix();
    return host_.get<std::byte>() + offset_bytes;
  }
  std::byte* device(std::uint64_t offset_bytes) {
    fix();
    return device_.get<std::byte>() + offset_bytes;
  }
  void upload(cudaStream_t stream) {
    if (used_bytes_ == 0) return;
    SONDE_CUDA_CHECK(
        cudaMemcpyAsync(device(0), host(0), used_bytes_, cudaMemcpyHostToDevice, stream));
  }
  void download(cudaStream_t stream) {
    if (used_bytes_ == 0) return;
    SONDE_CUDA_CHECK(
        cudaMemcpyAsync(host(0), device(0), used_bytes_, cudaMemcpyDeviceToHost, stream));
  }

 private:
  /// Grows by half at least.
  void fix() {
    fixed_ = true;
    const std::uint64_t there_bytes = std::min(host_.size_bytes(), device_.size_bytes());
    if (used_bytes_ <= there_bytes) return;
    const std::uint64_t size_bytes = std::max(used_bytes_, there_bytes * 3 / 2);
    host_.reserve(size_bytes);
    device_.reserve(size_bytes);
  }
  static constexpr std::uint64_t alignment = 256;
  PinnedBuffer host_;
  DeviceBuffer device_;
  std::uint64_t used_bytes_ = 0;
  bool fixed_ = false;
};

/// Add every array first, then use them: the first use fixes the layout until clear(). Content is
/// undefined until written.
class LaunchArrays {
 public:
  explicit LaunchArrays(cudaStream_t stream) : stream_(stream) {}

  void clear() {
    inputs_.clear();
    outputs_.clear();
  }
  template <class T>
  Input<T> add_input(std::uint64_t count) {
    return {inputs_.add(count * sizeof(T)), count};
  }
  template <class T>
  Output<T> add_output(std::uint64_t count) {
    return {outputs_.add(count * sizeof(T)), count};
  }
  template <class T>
  std::span<T> host(const Input<T>& array) {
    return {reinterpret_cast<T*>(inputs_.host(array.offset_bytes)), array.count};
  }
  template <class T>
  std::span<const T> host(const Output<T>& array) {
    return {reinterpret_cast<const T*>(outputs_.host(array.offset_bytes)), array.count};
  }
  template <class T>
  const T* device(const Input<T>& array) {
    return reinterpret_cast<const T*>(inputs_.device(array.offset_bytes));
  }
  template <class T>
  T* device(const Output<T>& array) {
    return reinterpret_cast<T*>(outputs_.device(array.offset_bytes));
  }

  /// These three queue their work.
  void upload() { inputs_.upload(stream_); }
  void download() { outputs_.download(stream_); }
  template <class T>
  void clear(const Output<T>& array) {
    SONDE_CUDA_CHECK(cudaMemsetAsync(device(array), 0, array.count * sizeof(T), stream_));
  }

 private:
  cudaStream_t stream_;
  MirroredMemory inputs_;
  MirroredMemory outputs_;
};

}  // namespace sonde::cuda
