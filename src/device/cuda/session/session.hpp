// One open GPU and all that it holds between probes: streams, memory, textures, launch arrays.
// CudaDevice measures through it, and the plays (play.hpp) launch through it.
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

/// Owns the GPU. It measures one probe at a time, and the arrays belong to that probe alone. All
/// work goes through one stream, or a second one that follows it, and has ended when run() returns.
class Session {
 public:
  /// Makes the context and reads the inventory.
  /// @param memory_share of the free memory that probes may take, 0..1
  /// @param peers other visible GPUs, in whose memory buffers may lie
  /// @throws DeviceError
  Session(int ordinal, std::uint64_t seed, double memory_share,
          const std::vector<DeviceChoice>& peers = {});

  const DeviceInfo& info() const { return info_; }
  /// With the most foreign processes seen so far.
  Health health();
  /// The links. PCIe generation and width are the highest seen in this job, also during copies.
  Links links();
  /// Call it while copies run: an idle link may save power.
  void look_at_busy_link();

  /// Calls `play` with empty arrays, and adds to its trace the address of the last buffer, how long
  /// the GPU worked, and the conditions after it (clocks and temperature may be 50 ms old).
  /// @throws DeviceLostError if the GPU was lost, now or before
  Trace measure(const std::function<Trace()>& play);

  /// True after a hang or a sticky error: nothing on this GPU may be used, or freed.
  bool lost() const { return lost_; }

  cudaStream_t stream() const { return stream_.get(); }
  /// For work beside that of the first stream; it has ended, too, when run() returns.
  cudaStream_t second_stream() const { return second_stream_.get(); }
  /// Later work of the second stream waits for the work queued so far in the first.
  void let_second_stream_follow();
  /// Later work of the first stream waits for the work queued so far in the second.
  void follow_second_stream();
  LaunchArrays& arrays() { return arrays_; }
  /// Queues one kernel.
  template <class Parameters>
  void launch(kernels::Kernel<Parameters> kernel, const Parameters& parameters,
              const LaunchShape& shape) const {
    cuda::launch(kernel, parameters, shape, stream());
  }
  Texture& texture() { return texture_; }

  /// Where the blocks of code lie, while the context lives; empty until it is read.
  std::optional<layout::CodeMap>& code_map() { return code_map_; }

  /// The buffer of a probe, as Pool::buffer; of a peer, if one is named, as PeerMemory::buffer.
  std::byte* data(Place place, std::uint64_t size_bytes,
                  const std::optional<std::string>& peer_uuid = {}) {
    return peer_uuid ? peers_.buffer(*peer_uuid, size_bytes) : pool_.buffer(place, size_bytes);
  }
  PeerLink link_to(const std::string& uuid) const {
    return nvml_ ? nvml_->link_to(uuid) : PeerLink::unknown;
  }

  /// Pinned memory of the host, valid until begin_job(), with undefined content. If more is pinned
  /// than asked for, the place draws a part of it.
  std::byte* host_data(Place place, std::uint64_t size_bytes);
  /// Frees the host memory of the job before, and looks for foreign processes.
  void begin_job();

  /// As Pool::flush.
  void flush_caches(std::uint64_t kept_bytes) { pool_.flush(kept_bytes, info_.sm_count, stream()); }

  /// Uploads the inputs, lets `queue` queue kernels, downloads the outputs and waits for all of it.
  /// @throws DeviceLostError if the GPU works on after `limit`, as the kernel ignored its deadline
  void run(TimeLimit limit, const std::function<void()>& queue);

 private:
  void wait(std::chrono::nanoseconds limit);
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
