// NVIDIA GPUs behind the seam.
#pragma once

#include "device/device.hpp"
#include "trace/gpu_survey.hpp"

#include <cstdint>
#include <memory>
#include <vector>

namespace sonde {

/// GPUs that the CUDA runtime shows to this process, in its order. Makes no context.
/// @throws DeviceError if a driver cannot list them; without GPU or driver the list is empty
std::vector<DeviceChoice> list_cuda_devices();

/// Opens one of them: makes its context and reads its inventory.
/// @param memory_share of its free memory that probes may take, 0..1
/// @param peers GPUs that stay visible, too
/// @throws DeviceError if it is no longer there, or cannot be used
std::unique_ptr<Device> open_cuda_device(const DeviceChoice& choice, std::uint64_t seed,
                                         double memory_share,
                                         const std::vector<NodeGpu>& peers = {});

/// What the driver reports of itself and its GPUs, by the CUDA runtime and NVML; makes no context.
/// Throws nothing: `problem` says what failed. A faulty driver may let it hang.
DriverSurvey survey_cuda();

}  // namespace sonde
