// Clocks of chosen SMs against the device-wide timer, and which SMs a thread block cluster lands
// on.
#pragma once

#include "kernels/placement.hpp"

#include <cstdint>

namespace sonde::kernels {

/// Both clocks, back to back.
struct ClockReading {
  std::uint64_t clock_cycles;
  std::uint64_t globaltimer_ns;
};

struct TimestampLaunch {
  Placement placement;
  LaneResult* results = nullptr;  // [rank]
  /// [rank * samples]; they lie in shared memory until the block writes them out.
  ClockReading* pairs = nullptr;
  std::uint32_t samples = 0;
};

/// Dense pairs of clock reads on every wanted SM, started together.
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

/// Clusters whose blocks hold their SMs until all have said where they are.
extern const Kernel<ClusterLaunch> clusters;

}  // namespace sonde::kernels
