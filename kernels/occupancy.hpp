// Kernels of many numbers of registers, whose blocks count how many an SM holds at once.
#pragma once

#include "kernels/placement.hpp"

#include <cstdint>
#include <vector>

namespace sonde::kernels {

/// Counters of all blocks of a launch; zero before it.
struct OccupancyState {
  std::uint32_t arrived;
  std::uint32_t closed;  // no block came for a while: later blocks leave at once
  std::uint32_t timed_out;
  std::uint32_t blocks_on_sm[max_sms];
};

struct OccupancyLaunch {
  OccupancyState* state = nullptr;
  std::uint64_t quiet_ns = 0;  // not 0: the launch closes after this time without a new block
  std::uint64_t limit_ns = 0;
};

/// One kernel for each number of live registers; cudaFuncGetAttributes gives its real number.
const std::vector<Kernel<OccupancyLaunch>>& occupancy_kernels();

}  // namespace sonde::kernels
