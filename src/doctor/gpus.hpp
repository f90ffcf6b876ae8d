// The checks of a driver and its GPUs, from what they report. Pure code.
#pragma once

#include "doctor/checks.hpp"
#include "trace/gpu_survey.hpp"

#include <string>

namespace sonde {

/// Whether a driver is there, is new enough and lists GPUs.
Checks check_driver(const DriverSurvey& driver);

/// Why a GPU must not be measured without --allow-shared-gpu; "" if it may be measured.
std::string describe_sharing(bool mig, bool mps, int foreign_processes);

/// Settings and state of one GPU, and other users of it. @param may_share --allow-shared-gpu
Checks check_gpu(const GpuSurvey& gpu, bool may_share);

}  // namespace sonde
