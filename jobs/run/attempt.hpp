// Probes that a device may refuse, where doing without them is an answer too.
#pragma once

#include "base/error.hpp"
#include "jobs/run/job_run.hpp"

#include <optional>
#include <string>

namespace sonde {

struct Attempt {
  const Trace* trace = nullptr;  // nullptr: refused
  std::string refusal;           // why
};

/// Plays a probe; a DeviceError is a refusal.
/// @throws DeviceLostError if nothing more can run
Attempt attempt(JobRun& run, std::string label, const ProbeSpec& spec);

/// Why the device refused a probe of a whole measurement, which then ended there; nullopt if it
/// refused none.
/// @throws DeviceLostError if nothing more can run
template <class Measurement>
std::optional<std::string> refusal_of(const Measurement& measurement) {
  try {
    measurement();
    return std::nullopt;
  } catch (const DeviceLostError&) {
    throw;
  } catch (const DeviceError& error) {
    return error.what();
  }
}

}  // namespace sonde
