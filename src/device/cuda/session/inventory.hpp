// Which GPUs the CUDA runtime shows to this process, and what is written on them.
#pragma once

#include "device/cuda/session/nvml.hpp"
#include "device/device.hpp"

namespace sonde::cuda {

/// What ranks agree on. @throws DeviceError
DeviceChoice read_choice(int ordinal);

/// @param nvml may be null: fields that only NVML knows stay empty
/// @throws DeviceError
DeviceInfo read_inventory(int ordinal, const Nvml* nvml);

/// Shared parts that the L1 array of a compute capability can give up, ascending (CUDA
/// programming guide, compute capabilities). Empty if unknown.
std::vector<std::uint64_t> shared_carveouts(int compute_major, int compute_minor);

/// Whether parts of an SM have instruction caches of their own: since Volta (Jia et al. 2018,
/// Dissecting Volta, section 3.4).
bool has_partition_instruction_caches(int compute_major);

}  // namespace sonde::cuda
