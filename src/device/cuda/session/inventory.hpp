// The GPUs that the CUDA runtime shows to this process, and their inventory.
#pragma once

#include "device/cuda/session/nvml.hpp"
#include "device/device.hpp"

namespace sonde::cuda {

/// The part of the inventory by which ranks agree on their GPUs. @throws DeviceError
DeviceChoice read_choice(int ordinal);

/// @param nvml may be null: fields that only NVML knows stay empty
/// @throws DeviceError
DeviceInfo read_inventory(int ordinal, const Nvml* nvml);

/// Carve-outs of a compute capability, ascending (CUDA programming guide, compute capabilities).
/// Empty if unknown.
std::vector<std::uint64_t> shared_carveouts(int compute_major, int compute_minor);

}  // namespace sonde::cuda
