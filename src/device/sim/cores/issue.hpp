// The instructions of all warps of an SM on their way through its schedulers and units.
#pragma once

#include "device/sim/model/units.hpp"

#include <cstdint>
#include <vector>

namespace sonde::sim {

/// What each warp executes, step after step: in a step, chain after chain, an instruction of each
/// operation. A chain's instruction waits for the one before; those of other chains do not, but a
/// warp issues in order.
struct WarpProgram {
  std::vector<const OpModel*> ops;  // side by side
  int ilp = 1;                      // chains of each
  std::uint64_t steps = 1;
};

/// Time from the start of all warps until the last result is there.
/// @param slow_cycles by which every instruction takes longer
std::uint64_t issue_warps(const PipelinesModel& pipelines, const WarpProgram& program, int warps,
                          std::uint32_t slow_cycles = 0);

}  // namespace sonde::sim
