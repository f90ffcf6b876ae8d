// One open GPU and all that it holds between probes: stream, memory, textures, arrays of a launch.
// CudaDevice measures through it, the players (play.hpp) launch through it.
#pragma once

#include "base/deadline_factor.hpp"
#include "device/cuda/session/launch.hpp"
#include "device/cuda/session/nvml.hpp"
#include "device/cuda/session/peer_memory.hpp"
#include "device/cuda/session/pool.hpp"
#include "device/cuda/session/textures.hpp"
#include "device/layout/code_map.hpp"
#include "trace/trace.hpp"

#include <chrono>
#include <functional>
#include <memory>
#include <optional>

namespace sonde::cuda {

/// Time that a kernel's lanes may take, on a GPU that nothing slows down
/// (base/deadline_factor.hpp); the host waits some seconds longer before it gives the GPU up.
struct TimeLimit {
  std::chrono::nanoseconds kernel;
  std::uint64_t kernel_ns() const {
    return static_cast<std::uint64_t>(static_cast<double>(kernel.count()) * deadline_factor());
  }
  std::chrono::nanoseconds host() const {
    return 2 * std::chrono::nanoseconds(kernel_ns()) + std::chrono::seconds(5);
  }
};

/// Owns the GPU. One probe at a time is measured; within it, the arrays are those of that probe
/// alone. All work goes through one stream, or follows it, and none is left when a launch has been
/// run.
class Session {
 public:
  /// Makes the context and reads the inventory.
  /// @param memory_share of the free memory that probes may take, 0..1
  /// @param peers that this process sees besides, in whose memory buffers may lie
  /// @throws DeviceError
  Session(int ordinal, std::uint64_t seed, double memory_share,
          const std::vector<DeviceChoice>& peers = {});

  const DeviceInfo& info() const { return info_; }
  /// With the most processes of others that were seen by now.
  Health health();
  /// The links; generation and width are those that a job saw while it was busy, if higher.
  Links links();
  /// To be called while copies run: a link that has nothing to do may save power.
  void look_at_busy_link();

  /// Calls `play` with empty arrays, and adds to its trace the place of its buffer, how long the
  /// GPU was at work, and the conditions: clocks and temperature are those after it, at most some
  /// 50 ms old.
  /// @throws DeviceLostError if the GPU was lost, now or before
  Trace measure(const std::function<Trace()>& play);

  /// After a hang or a sticky error nothing on this GPU may be touched, or freed.
  bool lost() const { return lost_; }

  cudaStream_t stream() const { return stream_.get(); }
  /// For what must run beside the work of the first; none is left in it when a launch has been run.
  cudaStream_t second_stream() const { return second_stream_.get(); }
  /// What is queued in the second stream from now on begins behind what was queued in the first.
  void let_second_stream_follow();
  /// And the other way round.
  void follow_second_stream();
  LaunchArrays& arrays() { return arrays_; }
  /// Queues one kernel.
  template <class Parameters>
  void launch(kernels::Kernel<Parameters> kernel, const Parameters& parameters,
              const LaunchShape& shape) const {
    cuda::launch(kernel, parameters, shape, stream());
  }
  Texture& texture() { return texture_; }

  /// Where the blocks of code lie, for as long as the context is there; empty until it was read.
  std::optional<layout::CodeMap>& code_map() { return code_map_; }

  /// The buffer of a probe, as Pool::buffer.
  std::byte* data(Place place, std::uint64_t size_bytes) { return pool_.buffer(place, size_bytes); }
  /// The same on a peer, as PeerMemory::buffer.
  std::byte* peer_data(const std::string& uuid, std::uint64_t size_bytes) {
    return peers_.buffer(uuid, size_bytes);
  }
  PeerLink link_to(const std::string& uuid) const {
    return nvml_ ? nvml_->link_to(uuid) : PeerLink::unknown;
  }

  /// Pinned memory of the host, until begin_job(): the part of it that the place draws, if it is
  /// larger. Old content undefined.
  std::byte* host_data(Place place, std::uint64_t size_bytes);
  /// Gives back what only the job before needed, and looks for processes of others.
  void begin_job();

  /// As Pool::flush.
  void flush_caches(std::uint64_t kept_bytes);

  /// Uploads the inputs, has `queue` queue kernels, downloads the outputs and waits for all of it.
  /// @throws DeviceLostError if the GPU is still at work after `limit`: the kernel ignored its own,
  /// shorter deadline
  void run(TimeLimit limit, const std::function<void()>& queue);

 private:
  void wait(std::chrono::nanoseconds limit);
  void add_device_time();
  Conditions read_conditions();
  DeviceInfo open_device();
  void look_for_others();

  int ordinal_;
  std::uint64_t seed_;
  std::unique_ptr<Nvml> nvml_;
  Processes own_processes_;  // this one, as NVML numbers it
  int foreign_processes_ = 0;
  DeviceInfo info_;
  Stream stream_;
  Event begin_;  // of what is queued in run()
  Event end_;
  Stream second_stream_;
  Event turn_;  // from one stream to the other
  LaunchArrays arrays_;
  Texture texture_;
  std::optional<layout::CodeMap> code_map_;
  Pool pool_;
  PeerMemory peers_;
  PinnedBuffer host_memory_;
  PcieLink busy_link_;   // since the job began
  double device_s_ = 0;  // of the runs of this probe
  bool lost_ = false;
  Health last_health_;
  std::chrono::steady_clock::time_point last_health_at_{};
};

}  // namespace sonde::cuda
