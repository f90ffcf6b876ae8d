// The checks of a driver and its GPUs, from what these say of themselves. Pure.
#pragma once

#include "doctor/checks.hpp"
#include "trace/gpu_survey.hpp"

#include <string>

namespace sonde {

Checks check_driver(const DriverSurvey& driver);

/// Why a GPU must not be measured unless the user insists (--allow-shared-gpu); "" if it may.
std::string describe_sharing(bool mig, bool mps, int foreign_processes);

/// Settings and state of one GPU, and who else uses it. @param may_share --allow-shared-gpu
Checks check_gpu(const GpuSurvey& gpu, bool may_share);

}  // namespace sonde
