// How many blocks of a shape an SM holds at once: kernels with many different numbers of registers,
// whose blocks count themselves.
#pragma once

#include "kernels/placement.hpp"

#include <cstdint>
#include <vector>

namespace sonde::kernels {

/// Counters that all blocks share; all zero before a launch.
struct OccupancyState {
  std::uint32_t arrived;
  std::uint32_t closed;  // nobody came for a while: from now on blocks leave at once
  std::uint32_t timed_out;
  std::uint32_t blocks_on_sm[max_sms];
};

struct OccupancyLaunch {
  OccupancyState* state = nullptr;
  std::uint64_t quiet_ns = 0;  // not 0: that nobody may come before the door is closed
  std::uint64_t limit_ns = 0;
};

/// One kernel for each number of registers that is kept in use; cudaFuncGetAttributes says how many
/// each has in the end.
const std::vector<Kernel<OccupancyLaunch>>& occupancy_kernels();

}  // namespace sonde::kernels
