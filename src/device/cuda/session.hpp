// All that one open GPU holds between probes, and the two things that every probe does with it:
// have memory, and wait for the GPU no longer than it may take.
#pragma once

#include "device/cuda/mirror.hpp"
#include "device/cuda/nvml.hpp"
#include "device/cuda/resources.hpp"
#include "device/cuda/textures.hpp"
#include "trace/trace.hpp"

#include <chrono>
#include <memory>

namespace sonde::cuda {

class Session {
 public:
  /// Makes the context and reads the inventory. @throws DeviceError
  Session(int ordinal, std::uint64_t seed);

  const DeviceInfo& info() const { return info_; }
  Health health();
  cudaStream_t stream() const { return stream_.get(); }

  /// Arrays for kernels to read, and arrays that they write.
  Mirror inputs;
  Mirror outputs;
  Texture texture;

  /// The memory that probes walk through: at least that much, old content undefined.
  /// @throws DeviceError if the GPU has not so much
  std::byte* data(std::uint64_t size_bytes);

  /// Queues loads that put other addresses into all caches and TLBs: one load from each 2 MB of all
  /// memory that nobody else holds, then a read of three times the L2.
  /// @param kept_bytes start of the data that must not be touched
  void flush_caches(std::uint64_t kept_bytes);

  /// Waits for all that was queued. A kernel has its own, shorter deadline.
  /// @throws DeviceLostError if the GPU is still at work after `limit`: the kernel ignored its
  /// deadline
  void wait(std::chrono::nanoseconds limit);

  /// Conditions at the start of a probe; finish_conditions adds clocks and temperature after it, at
  /// most some 50 ms old.
  Conditions start_conditions() const;
  void finish_conditions(Conditions& conditions);

  /// After a hang or a sticky error nothing on this GPU may be touched, or freed.
  bool lost() const { return lost_; }
  void mark_lost() { lost_ = true; }

 private:
  int ordinal_;
  std::uint64_t seed_;
  std::unique_ptr<Nvml> nvml_;
  DeviceInfo info_;
  Stream stream_;
  Event done_;
  DeviceBuffer data_;
  DeviceBuffer flush_;  // three times the L2
  DeviceBuffer rest_;   // what is left of the memory, for its pages alone
  bool lost_ = false;
  Health last_health_;
  std::chrono::steady_clock::time_point last_health_at_{};
};

}  // namespace sonde::cuda
