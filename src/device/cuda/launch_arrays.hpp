// The arrays of one launch: what its kernels read, and what they write. All inputs lie in one piece
// of memory, all outputs in another, each on the host and on the GPU; the session moves them.
#pragma once

#include "base/error.hpp"
#include "device/cuda/resources.hpp"

#include <algorithm>
#include <cstddef>
#include <span>

namespace sonde::cuda {

/// Inputs are filled by the host and read by kernels, outputs the other way round.
enum class Flow { input, output };

template <Flow flow, class T>
struct LaunchArray {
  std::uint64_t offset_bytes = 0;
  std::uint64_t count = 0;
};
template <class T>
using Input = LaunchArray<Flow::input, T>;
template <class T>
using Output = LaunchArray<Flow::output, T>;

/// Memory of equal layout on the host and on the device. It only grows, by half at least: pinned
/// memory is slow to get.
struct MirroredMemory {
  PinnedBuffer host;
  DeviceBuffer device;
  std::uint64_t used_bytes = 0;
  bool fixed = false;

  void fix() {
    fixed = true;
    const std::uint64_t there_bytes = std::min(host.size_bytes(), device.size_bytes());
    if (used_bytes <= there_bytes) return;
    const std::uint64_t size_bytes = std::max(used_bytes, there_bytes * 3 / 2);
    host.reserve(size_bytes);
    device.reserve(size_bytes);
  }
};

/// Add every array first, then use them: the first use fixes the layout until clear(). Content is
/// undefined until written.
class LaunchArrays {
 public:
  explicit LaunchArrays(cudaStream_t stream) : stream_(stream) {}

  void clear() {
    inputs_.used_bytes = outputs_.used_bytes = 0;
    inputs_.fixed = outputs_.fixed = false;
  }
  template <class T>
  Input<T> add_input(std::uint64_t count) {
    return {add(inputs_, count * sizeof(T)), count};
  }
  template <class T>
  Output<T> add_output(std::uint64_t count) {
    return {add(outputs_, count * sizeof(T)), count};
  }
  template <Flow flow, class T>
  std::span<T> host(const LaunchArray<flow, T>& array) {
    std::byte* begin = used<flow>().host.template get<std::byte>();
    return {reinterpret_cast<T*>(begin + array.offset_bytes), array.count};
  }
  template <Flow flow, class T>
  T* device(const LaunchArray<flow, T>& array) {
    std::byte* begin = used<flow>().device.template get<std::byte>();
    return reinterpret_cast<T*>(begin + array.offset_bytes);
  }

  /// These three queue their work.
  void upload() { copy(used<Flow::input>(), cudaMemcpyHostToDevice); }
  void download() { copy(used<Flow::output>(), cudaMemcpyDeviceToHost); }
  template <class T>
  void clear(const Output<T>& array) {
    SONDE_CUDA_CHECK(cudaMemsetAsync(device(array), 0, array.count * sizeof(T), stream_));
  }

 private:
  static constexpr std::uint64_t alignment = 256;

  static std::uint64_t add(MirroredMemory& memory, std::uint64_t size_bytes) {
    require(!memory.fixed, "an array was added to a launch after another one was used");
    const std::uint64_t offset_bytes = memory.used_bytes;
    memory.used_bytes += (size_bytes + alignment - 1) / alignment * alignment;
    return offset_bytes;
  }
  template <Flow flow>
  MirroredMemory& used() {
    MirroredMemory& memory = flow == Flow::input ? inputs_ : outputs_;
    memory.fix();
    return memory;
  }
  void copy(const MirroredMemory& memory, cudaMemcpyKind kind) const {
    if (memory.used_bytes == 0) return;
    const bool up = kind == cudaMemcpyHostToDevice;
    void* to = up ? memory.device.get() : memory.host.get();
    const void* from = up ? memory.host.get() : memory.device.get();
    SONDE_CUDA_CHECK(cudaMemcpyAsync(to, from, memory.used_bytes, kind, stream_));
  }

  cudaStream_t stream_;
  MirroredMemory inputs_;
  MirroredMemory outputs_;
};

}  // namespace sonde::cuda
