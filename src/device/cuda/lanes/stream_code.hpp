// Chooses the kernel that plays a stream, and refuses streams without a kernel.
#pragma once

#include "device/cuda/session/session.hpp"
#include "device/probe/probe.hpp"
#include "kernels/stream/stream.hpp"
#include "trace/inventory.hpp"

namespace sonde::cuda {

/// @throws DeviceError if there is no such kernel, or none that runs on this GPU
kernels::Kernel<kernels::StreamLaunch> choose_stream_kernel(const DeviceInfo& info,
                                                            const StreamProbe& probe);

/// The groups of a stream, laid out for the kernel.
class StreamGroups {
 public:
  /// Adds its arrays to those of the session, and fills them.
  StreamGroups(Session& session, const StreamProbe& probe);

  /// The parameters of the kernel.
  kernels::StreamGroupsLaunch describe() const;

  /// Number of different chunks that the warps take in a launch.
  std::uint64_t covered_chunks() const;

  /// Queues the clearing of the ranks, before every launch.
  void clear() const { session_.arrays().clear(ranks_); }

 private:
  Session& session_;
  const StreamProbe& probe_;
  Input<std::int32_t> group_of_sm_;
  Input<std::uint32_t> lists_;
  Output<std::uint32_t> ranks_;
};

}  // namespace sonde::cuda
