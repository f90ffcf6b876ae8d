// How the L1 array is divided for a kernel: arithmetic on the device's list of shared parts. The
// backend asks the driver for the plan's share when it launches.
#pragma once

#include "trace/inventory.hpp"

#include <cstdint>
#include <optional>

namespace sonde::layout {

struct SharedPlan {
  std::uint64_t carveout_bytes = 0;  // in force while the kernel runs
  unsigned dynamic_bytes = 0;  // what a block asks for: its part of all, so that no more blocks fit
  int carveout_percent = -1;   // of the largest carve-out, as drivers are asked; -1: no choice
};

/// @param asked_bytes the carve-out that the probe wants; else the smallest that holds
///   `needed_bytes` for each block
/// @param blocks that shall fit on an SM at once, of one launch or of several
/// @throws ProbeTooLargeError if a block cannot have that much, or the asked carve-out does not
/// hold it
SharedPlan plan_shared(const DeviceInfo& info, std::uint64_t needed_bytes,
                       std::optional<std::uint64_t> asked_bytes = std::nullopt,
                       std::uint64_t blocks = 1);

}  // namespace sonde::layout
