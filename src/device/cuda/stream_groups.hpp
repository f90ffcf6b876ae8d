// The groups of a stream, laid out for its kernel.
#pragma once

#include "device/cuda/session.hpp"
#include "device/probe.hpp"
#include "kernels/stream/stream.hpp"

namespace sonde::cuda {

class StreamGroups {
 public:
  /// Adds its arrays to those of the session, and fills them.
  StreamGroups(Session& session, const StreamProbe& probe);

  /// Tells the kernel.
  kernels::StreamGroupsLaunch describe() const;

  /// Different chunks that some warp takes in a launch.
  std::uint64_t covered_chunks() const;

  /// Queues what must come before every launch.
  void clear() const { session_.arrays().clear(ranks_); }

 private:
  Session& session_;
  const StreamProbe& probe_;
  Input<std::int32_t> group_of_sm_;
  Input<std::uint32_t> lists_;
  Output<std::uint32_t> ranks_;
};

}  // namespace sonde::cuda
