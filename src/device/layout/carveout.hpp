// How the L1 array is divided for a kernel, by the device's list of carve-outs. The backend asks
// the driver for the carve-out of the plan when it launches.
#pragma once

#include "trace/inventory.hpp"

#include <cstdint>
#include <optional>

namespace sonde::layout {

struct SharedPlan {
  std::uint64_t carveout_bytes = 0;  // in force while the kernel runs
  /// that a block asks for: all of its share, so that no further block fits
  unsigned dynamic_bytes = 0;
  int carveout_percent = -1;  // of the SM's shared memory, as drivers are asked; -1: no choice
};

/// Chooses the carve-out and the shared memory of a block.
/// @param asked_bytes the carve-out that the probe wants; else the smallest that holds
/// `needed_bytes` for each block
/// @param blocks that shall fit on an SM at once, of one launch or of several
/// @throws ProbeTooLargeError if a block cannot have that much, or the asked carve-out is too small
SharedPlan plan_shared(const DeviceInfo& info, std::uint64_t needed_bytes,
                       std::optional<std::uint64_t> asked_bytes = std::nullopt,
                       std::uint64_t blocks = 1);

}  // namespace sonde::layout
