// SMs that keep a slice of the L2 busy while a chase runs: each makes reductions (additions without
// an answer) on one line. They time nothing.
#pragma once

#include "kernels/placement.hpp"

#include <cstdint>

namespace sonde::kernels {

/// Enough warps to have a reduction in flight in every cycle.
inline constexpr unsigned co_runner_threads = 256;

struct CoRunnerLaunch {
  Placement placement;
  const std::uint64_t* lines =
      nullptr;  // [rank] address of 128 bytes, whose content does not change
  const std::uint32_t* stop = nullptr;  // they end when this is not zero
};

/// Makes reductions until `stop` or the placement's limit. `placement.arrived` counts the SMs.
extern const Kernel<CoRunnerLaunch> co_runners;

/// Waits until as many lanes or co-runners have arrived as the placement wants SMs, or until
/// `claim_ns` has passed. Launch it with that launch's carve-out: a block of it may need this
/// kernel's SM.
extern const Kernel<Placement> await_arrivals;

}  // namespace sonde::kernels
