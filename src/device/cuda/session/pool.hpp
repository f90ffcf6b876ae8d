// The memory that probes read and write: nearly all memory of the GPU, allocated once. Allocating
// is slow (250 ms for 130 GB on an H200, and 33 ms for 64 GB with each buffer that grows), and
// other places in it have other physical pages.
#pragma once

#include "device/cuda/session/resources.hpp"
#include "device/layout/buffer_place.hpp"

namespace sonde::cuda {

class Pool {
 public:
  /// @param most_share of the free memory, 0..1
  /// @param flush_bytes that are kept apart for reads that empty the L2
  Pool(std::uint64_t seed, double most_share, std::uint64_t flush_bytes)
      : seed_(seed), most_share_(most_share), flush_bytes_(flush_bytes) {}

  /// The buffer of a probe, with undefined content. The first call allocates the memory.
  /// @throws DeviceError if the GPU has too little
  std::byte* buffer(Place place, std::uint64_t size_bytes);

  /// Where the last buffer began, as the GPU sees it; 0: there was none.
  std::uint64_t address() const { return reinterpret_cast<std::uint64_t>(begin_) + offset_bytes_; }

  /// Queues loads that put other addresses into all caches and TLBs: one from each 2 MiB of all
  /// memory, then a read of the part kept apart for it.
  /// @param kept_bytes at the start of the last buffer, which are not touched
  void flush(std::uint64_t kept_bytes, int sm_count, cudaStream_t stream);

 private:
  void take();

  std::uint64_t seed_;
  double most_share_;
  std::uint64_t flush_bytes_;
  DeviceBuffer memory_;
  std::byte* begin_ = nullptr;    // of the memory for buffers
  std::uint64_t size_bytes_ = 0;  // of that memory; flush_bytes_ more follow it
  std::uint64_t offset_bytes_ = 0;
};

}  // namespace sonde::cuda
