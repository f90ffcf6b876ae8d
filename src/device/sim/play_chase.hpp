// Chases on a simulated GPU.
#pragma once

#include "device/device.hpp"
#include "device/sim/memory_system.hpp"
#include "device/sim/noise.hpp"

namespace sonde::sim {

/// Shared part of the L1 array in force for a launch that keeps `block_bytes` of shared memory, and
/// asks for `wanted_bytes` if given: the smallest that will do.
/// @throws DeviceError if none will
std::uint64_t choose_carveout(const DeviceInfo& info, std::uint64_t block_bytes,
                              std::optional<std::uint64_t> wanted_bytes);

Trace play_chase(const Model& model, const DeviceInfo& info, MemorySystem& memory,
                 const ChaseProbe& probe, std::uint64_t seed);

}  // namespace sonde::sim
