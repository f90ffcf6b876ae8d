// SMs that keep a slice of the L2 busy while a chase runs: they make reductions, additions without
// an answer, on one line each, and do not time anything.
#pragma once

#include "kernels/placement.hpp"

#include <cstdint>

namespace sonde::kernels {

/// Enough warps to have a reduction under way in every cycle.
inline constexpr unsigned co_runner_threads = 256;

struct CoRunnerLaunch {
  Placement placement;
  const std::uint64_t* lines = nullptr;  // [rank] address of 128 bytes; what they hold stays
  const std::uint32_t* stop = nullptr;   // they end when it is not zero
};

/// Makes the reductions. `placement.arrived` counts the SMs that make them; they end by
/// `stop` or by the limit of the placement.
extern const Kernel<CoRunnerLaunch> co_runners;

/// Waits until so many have arrived, lanes or co-runners, as the placement wants SMs, or `claim_ns`
/// has passed. To be launched with the carve-out of that launch: one of its blocks may need the SM
/// of this kernel.
extern const Kernel<Placement> await_arrivals;

}  // namespace sonde::kernels
