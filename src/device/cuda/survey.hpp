// What the driver reports of itself and its GPUs, for `sonde doctor`.
#pragma once

#include "trace/gpu_survey.hpp"

namespace sonde {

/// Asks the CUDA runtime and NVML; makes no context. Throws nothing: `problem` says what failed. A
/// faulty driver may let it hang.
DriverSurvey survey_cuda();

}  // namespace sonde
