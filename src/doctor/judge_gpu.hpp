// What the driver and its GPUs are like means for a measurement. Pure.
#pragma once

#include "doctor/checkup.hpp"
#include "fleet/bind_cpu.hpp"
#include "trace/gpu_survey.hpp"

#include <optional>
#include <string>

namespace sonde {

/// Whether a GPU that others use, too, is measured (--allow-shared-gpu).
enum class Sharing { refused, allowed };

/// `driver`, `gpus`: the driver's version against the one that this build needs; how many GPUs it
/// shows. @param visible_devices CUDA_VISIBLE_DEVICES, if it is set
Checks judge_driver(const DriverSurvey& survey, const std::optional<std::string>& visible_devices);

/// `gpu0` to `gpu0.cpus` for one GPU: settings, state, neighbours.
Checks judge_gpu(const GpuSurvey& gpu, const NearCpus& cpus, Sharing sharing);

/// What the machine shows of MPS (CUDA Multi-Process Service).
struct MpsFacts {
  std::string pipe_folder{};   // of the control daemon
  bool pipe_is_there = false;  // it holds the daemon's pipe
  bool daemon_runs = false;    // a process of its name was seen
};
Check judge_mps(const MpsFacts& mps, Sharing sharing);

}  // namespace sonde
