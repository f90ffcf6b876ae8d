// Launches kernels, with the arrays that they read and write.
#pragma once

#include "device/cuda/session/cuda_check.hpp"
#include "device/cuda/session/resources.hpp"
#include "kernels/placement.hpp"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstddef>
#include <deque>
#include <span>
#include <utility>

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

/// Enums of probes that kernels have, too, list the same values in the same order there.
template <class KernelEnum, class ProbeEnum>
constexpr KernelEnum as_kernel(ProbeEnum value) {
  return static_cast<KernelEnum>(value);
}

/// The address by which the runtime knows a kernel.
template <class Parameters>
const void* address_of(kernels::Kernel<Parameters> kernel) {
  return reinterpret_cast<const void*>(kernel);
}

/// Sets the shared memory and the carve-out of a kernel. This also loads it, which waits for all
/// running kernels (CUDA programming guide, lazy loading).
/// @param kernel null: there is none
cudaError_t prepare_kernel(const void* kernel, const LaunchShape& shape);

/// Prepares the kernel and, if the shape has blocks, queues it.
cudaError_t launch_kernel(const void* kernel, const void* parameters, const LaunchShape& shape,
                          cudaStream_t stream);

/// Queues a kernel as launch_kernel does. @throws DeviceError, DeviceLostError
template <class Parameters>
void launch(kernels::Kernel<Parameters> kernel, const Parameters& parameters,
            const LaunchShape& shape, cudaStream_t stream) {
  SONDE_CUDA_CHECK(launch_kernel(address_of(kernel), &parameters, shape, stream));
}

/// Inputs are filled by the host and read by kernels, outputs the other way round.
enum class Flow { input, output };

/// An array on the host and on the device. Its content is undefined until written.
template <Flow flow, class T>
struct LaunchArray {
  std::span<T> host;
  T* device = nullptr;
};
template <class T>
using Input = LaunchArray<Flow::input, T>;
template <class T>
using Output = LaunchArray<Flow::output, T>;

/// Memory of equal layout on the host and on the device. Arrays stay where they are until clear().
/// If there is no room, a further piece is added, at least half as large as all others, as pinned
/// memory is slow to get; clear() replaces several pieces by one.
class MirroredMemory {
 public:
  template <Flow flow, class T>
  LaunchArray<flow, T> take(std::uint64_t count) {
    constexpr std::uint64_t alignment = 256;
    const std::uint64_t size_bytes = (count * sizeof(T) + alignment - 1) / alignment * alignment;
    if (pieces_.empty() || pieces_.back().free_bytes() < size_bytes) add_piece(size_bytes);
    Piece& piece = pieces_.back();
    const std::uint64_t at = std::exchange(piece.used_bytes, piece.used_bytes + size_bytes);
    return {{reinterpret_cast<T*>(piece.host.get<std::byte>() + at), count},
            reinterpret_cast<T*>(piece.device.get<std::byte>() + at)};
  }

  void clear() {
    if (pieces_.size() > 1) {
      wanted_bytes_ = size_bytes();
      pieces_.clear();
    }
    for (Piece& piece : pieces_) piece.used_bytes = 0;
  }

  /// Queues a copy of all arrays.
  void copy(cudaMemcpyKind kind, cudaStream_t stream) const {
    for (const Piece& piece : pieces_) {
      if (piece.used_bytes == 0) continue;
      const bool up = kind == cudaMemcpyHostToDevice;
      void* to = up ? piece.device.get() : piece.host.get();
      const void* from = up ? piece.host.get() : piece.device.get();
      SONDE_CUDA_CHECK(cudaMemcpyAsync(to, from, piece.used_bytes, kind, stream));
    }
  }

 private:
  struct Piece {
    explicit Piece(std::uint64_t size_bytes) {
      host.reserve(size_bytes);
      device.reserve(size_bytes);
    }
    std::uint64_t free_bytes() const { return host.size_bytes() - used_bytes; }

    PinnedBuffer host;
    DeviceBuffer device;
    std::uint64_t used_bytes = 0;
  };

  std::uint64_t size_bytes() const {
    std::uint64_t sum = 0;
    for (const Piece& piece : pieces_) sum += piece.host.size_bytes();
    return sum;
  }
  void add_piece(std::uint64_t size_bytes) {
    const std::uint64_t wanted_bytes = std::exchange(wanted_bytes_, least_bytes);
    pieces_.emplace_back(std::max({size_bytes, wanted_bytes, this->size_bytes() / 2}));
  }

  static constexpr std::uint64_t least_bytes = 1 << 20;
  std::deque<Piece> pieces_;
  std::uint64_t wanted_bytes_ = least_bytes;  // of the next piece alone
};

/// The arrays of one probe: inputs go to the device, outputs come back.
class LaunchArrays {
 public:
  explicit LaunchArrays(cudaStream_t stream) : stream_(stream) {}

  void clear() {
    inputs_.clear();
    outputs_.clear();
  }
  template <class T>
  Input<T> add_input(std::uint64_t count) {
    return inputs_.take<Flow::input, T>(count);
  }
  template <class T>
  Output<T> add_output(std::uint64_t count) {
    return outputs_.take<Flow::output, T>(count);
  }

  /// These three queue their work.
  void upload() const { inputs_.copy(cudaMemcpyHostToDevice, stream_); }
  void download() const { outputs_.copy(cudaMemcpyDeviceToHost, stream_); }
  template <class T>
  void clear(const Output<T>& array) const {
    SONDE_CUDA_CHECK(cudaMemsetAsync(array.device, 0, array.host.size_bytes(), stream_));
  }

 private:
  cudaStream_t stream_;
  MirroredMemory inputs_;
  MirroredMemory outputs_;
};

}  // namespace sonde::cuda
