// Clocks of chosen SMs against the device-wide timer, and the SMs of thread block clusters.
#pragma once

#include "kernels/placement.hpp"

#include <cstdint>

namespace sonde::kernels {

/// Both clocks, read one directly after the other.
struct ClockReading {
  std::uint64_t clock_cycles;
  std::uint64_t globaltimer_ns;
};

struct TimestampLaunch {
  Placement placement;
  LaneResult* results = nullptr;  // [rank]
  /// [rank * samples]; in shared memory until the block writes them out.
  ClockReading* pairs = nullptr;
  std::uint32_t samples = 0;
};

/// Pairs of clock readings in quick succession on every wanted SM, started together.
extern const Kernel<TimestampLaunch> timestamps;

struct ClusterBlock {
  std::uint32_t sm;
  std::uint32_t cluster;
};

struct ClusterLaunch {
  ClusterBlock* blocks = nullptr;    // [grid]
  std::uint32_t* arrived = nullptr;  // zero
  std::uint64_t limit_ns = 0;
};

/// Clusters whose blocks stay on their SMs until all have reported their SM.
extern const Kernel<ClusterLaunch> clusters;

}  // namespace sonde::kernels
