// A probe that a device may refuse, where doing without it is an answer too.
#pragma once

#include "jobs/run/job_run.hpp"

#include <string>

namespace sonde {

struct Attempt {
  const Trace* trace = nullptr;  // nullptr: refused
  std::string refusal;           // why
};

/// Plays a probe; a DeviceError is a refusal.
/// @throws DeviceLostError if nothing more can run
Attempt attempt(JobRun& run, std::string label, const ProbeSpec& spec);

}  // namespace sonde
