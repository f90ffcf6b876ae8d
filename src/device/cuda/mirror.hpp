// Arrays that exist on the host and on the device: laid out one after the other, moved in one go.
#pragma once

#include "device/cuda/resources.hpp"

#include <algorithm>
#include <cstddef>
#include <span>

namespace sonde::cuda {

/// A place in a Mirror.
template <class T>
struct Slot {
  std::uint64_t offset_bytes = 0;
  std::uint64_t count = 0;
};

/// Use: clear_layout, add every array, commit; then host() and device() are valid until the next
/// layout. Content is undefined until written.
class Mirror {
 public:
  void clear_layout() { used_bytes_ = 0; }
  template <class T>
  Slot<T> add(std::uint64_t count) {
    const Slot<T> slot{used_bytes_, count};
    used_bytes_ += (count * sizeof(T) + alignment - 1) / alignment * alignment;
    return slot;
  }
  /// Grows by half at least: pinned memory is slow to get.
  void commit() {
    if (used_bytes_ <= host_.size_bytes()) return;
    const std::uint64_t size_bytes = std::max(used_bytes_, host_.size_bytes() * 3 / 2);
    host_.reserve(size_bytes);
    device_.reserve(size_bytes);
  }
  template <class T>
  std::span<T> host(const Slot<T>& slot) const {
    return {reinterpret_cast<T*>(host_.get<std::byte>() + slot.offset_bytes), slot.count};
  }
  template <class T>
  T* device(const Slot<T>& slot) const {
    return reinterpret_cast<T*>(device_.get<std::byte>() + slot.offset_bytes);
  }
  void upload(cudaStream_t stream) const {
    if (used_bytes_ == 0) return;
    SONDE_CUDA_CHECK(
        cudaMemcpyAsync(device_.get(), host_.get(), used_bytes_, cudaMemcpyHostToDevice, stream));
  }
  void download(cudaStream_t stream) const {
    if (used_bytes_ == 0) return;
    SONDE_CUDA_CHECK(
        cudaMemcpyAsync(host_.get(), device_.get(), used_bytes_, cudaMemcpyDeviceToHost, stream));
  }
  template <class T>
  void fill_device(const Slot<T>& slot, int byte, cudaStream_t stream) const {
    SONDE_CUDA_CHECK(cudaMemsetAsync(device(slot), byte, slot.count * sizeof(T), stream));
  }

 private:
  static constexpr std::uint64_t alignment = 256;
  PinnedBuffer host_;
  DeviceBuffer device_;
  std::uint64_t used_bytes_ = 0;
};

}  // namespace sonde::cuda
