// SMs that keep a slice of the L2 busy while a chase runs: they make reductions, additions without
// an answer, on one line each, and do not time anything.
#pragma once

#include "kernels/placement.hpp"

#include <cuda_runtime_api.h>

#include <cstdint>

namespace sonde::kernels {

/// Enough warps to have a reduction under way in every cycle.
inline constexpr unsigned co_runner_threads = 256;

struct CoRunnerLaunch {
  Placement placement;
  const std::uint64_t* lines = nullptr;  // [rank] address of 128 bytes; what they hold stays
  const std::uint32_t* stop = nullptr;   // they end when it is not zero
};

/// Queues the reductions. `placement.arrived` counts the SMs that make them; they end by
/// `stop` or by the limit of the placement.
cudaError_t launch_co_runners(const CoRunnerLaunch& launch, const LaunchShape& shape,
                              cudaStream_t stream);

/// Queues a wait until so many have arrived, lanes or co-runners, as the placement wants SMs, or
/// `claim_ns` has passed.
/// @param shape with the carve-out of that launch: one of its blocks may need the SM of this kernel
cudaError_t await_arrivals(const Placement& placement, const LaunchShape& shape,
                           cudaStream_t stream);

}  // namespace sonde::kernels
