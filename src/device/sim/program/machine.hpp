// All SMs that play a program, on one memory side, kernel after kernel.
#pragma once

#include "device/sim/program/program_sm.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace sonde::sim {

struct MachineModel {
  SmModel sm;
  std::optional<L1Model> l1;
  MemorySideModel memory;
};

/// What one SM did over all kernels.
struct MachineSm {
  double cycles = 0;
  std::vector<WarpResult> warps;
  SmCounts counts;
  MemoryCounts memory;
  std::uint64_t periods = 0;
  std::uint64_t cached_in_periods = 0;
};

/// Plays the program on SMs 0 .. sm_count - 1 of the machine, which share out its blocks and
/// accesses as they have room.
/// @param ranks SMs of the whole machine, a multiple of sm_count: those that do not play have the
/// blocks between
/// @param buffer_address where the program's arrays begin
std::vector<MachineSm> play_machine(const MachineModel& model, const ProgramProbe& probe,
                                    int sm_count, std::uint64_t ranks,
                                    std::uint64_t buffer_address);

}  // namespace sonde::sim
