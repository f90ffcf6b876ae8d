// The co-runners of a chase: a launch of their own beside that of its lanes, in another stream.
#pragma once

#include "device/cuda/chase_memory.hpp"
#include "device/cuda/placed_launch.hpp"
#include "kernels/co_runners.hpp"

namespace sonde::cuda {

/// Construct it before the launch's plan, fill it when the arrays are fixed, then queue `begin` and
/// `end` around the chase.
class CoRunners {
 public:
  /// Adds its arrays to those of the session.
  /// @throws DeviceError if the path has no addresses that reductions could be made on
  CoRunners(Session& session, const ChaseProbe& probe);

  void fill(const ChaseMemory& memory);

  /// Behind what was queued so far they begin, and what is queued next waits until they run.
  void begin();
  /// They end behind what was queued so far, and what is queued next waits for that.
  void end();

  /// @throws DeviceError if an SM could not be had for one
  void check() const;

 private:
  Session& session_;
  const std::vector<CoRunner>& runners_;
  PlacedLaunch placed_;
  Input<std::uint64_t> lines_;
  Output<std::uint32_t> stop_;
};

}  // namespace sonde::cuda
