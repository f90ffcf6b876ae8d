// How the L1 array is cut for a kernel: pure arithmetic on the device's list of possible cuts.
#pragma once

#include "trace/inventory.hpp"

#include <cstdint>
#include <optional>

namespace sonde::cuda {

struct SharedPlan {
  std::uint64_t carveout_bytes = 0;  // in force while the kernel runs
  unsigned dynamic_bytes = 0;  // what a block asks for: all of it, so that no second block fits
  int carveout_percent = -1;   // for cudaFuncAttributePreferredSharedMemoryCarveout
};

/// @param asked_bytes the cut that the probe wants; else the smallest that holds `needed_bytes`
/// @throws DeviceError if a block cannot have that much, or the asked cut does not hold it
SharedPlan plan_shared(const DeviceInfo& info, std::uint64_t needed_bytes,
                       std::optional<std::uint64_t> asked_bytes = std::nullopt);

}  // namespace sonde::cuda
