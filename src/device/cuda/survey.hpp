// What the driver says of itself and its GPUs, for `sonde doctor`.
#pragma once

#include "trace/gpu_survey.hpp"

namespace sonde {

/// Asks the CUDA runtime and NVML; makes no context. Never an error: what cannot be asked is said.
/// A sick driver may let it hang.
DriverSurvey survey_cuda();

}  // namespace sonde
