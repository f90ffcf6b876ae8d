// The co-runners of a chase: a launch of their own beside that of its lanes, in another stream.
#pragma once

#include "device/cuda/path_lanes.hpp"
#include "device/cuda/placed_launch.hpp"
#include "kernels/co_runners.hpp"

#include <functional>

namespace sonde::cuda {

/// Queues one kernel in the session's stream, or loads it, if the shape has no blocks.
using QueueLaunch = std::function<void(const LaunchShape& shape)>;

class CoRunners {
 public:
  /// Adds its arrays to those of the session.
  /// @throws DeviceError if the path has no addresses that reductions could be made on
  CoRunners(Session& session, const ChaseProbe& probe, const PathLanes& lanes);

  /// Behind what was queued so far they begin; the chase is queued when they run, and they end
  /// behind it. What is queued next waits for that.
  void run_beside(const LaunchShape& shape, const QueueLaunch& chase);

  /// @throws DeviceError if an SM could not be had for one
  void check() const;

 private:
  void begin();
  void end();

  Session& session_;
  const std::vector<CoRunner>& runners_;
  PlacedLaunch placed_;
  Input<std::uint64_t> lines_;
  Output<std::uint32_t> stop_;
};

}  // namespace sonde::cuda
