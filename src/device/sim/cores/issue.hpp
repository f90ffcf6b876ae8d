// How long the warps of an SM need to issue and finish their instructions.
#pragma once

#include "device/sim/model/units.hpp"

#include <cstdint>
#include <vector>

namespace sonde::sim {

/// The program of each warp: the same step, many times. A step makes each operation once in each of
/// the `ilp` chains, and the instructions of the chains alternate. An instruction waits for the one
/// before it in its chain. Chains do not wait for each other, but a warp issues in order.
struct WarpProgram {
  std::vector<const OpModel*> ops;  // side by side
  int ilp = 1;                      // chains of each operation
  std::uint64_t steps = 1;
};

/// Cycles from the start of all warps until the last result is ready.
/// @param slow_cycles added to the latency of every instruction
std::uint64_t issue_warps(const PipelinesModel& pipelines, const WarpProgram& program, int warps,
                          std::uint32_t slow_cycles = 0);

}  // namespace sonde::sim
