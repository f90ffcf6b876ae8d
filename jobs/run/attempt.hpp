// Probes that a device may refuse, for jobs that then report the refusal as their answer.
#pragma once

#include "jobs/run/job_run.hpp"

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

namespace sonde {

/// Runs a whole measurement. Returns why the device refused one of its probes, which ends it;
/// nullopt if it refused none.
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

/// Measures a part of a job. If the device refuses it, or it throws NoAnswer, all metrics that
/// begin with one of these prefixes and have no finding yet get that reason.
/// @return true if neither happened
/// @throws DeviceLostError if nothing more can run
template <class Measurement>
bool measure_part(JobRun& run, std::initializer_list<std::string_view> prefixes,
                  const Measurement& measurement) {
  Status status = Status::not_resolvable;
  std::optional<std::string> reason;
  try {
    reason = refusal_of(measurement);
  } catch (const NoAnswer& none) {
    status = none.status;
    reason = none.what();
  }
  for (std::string_view prefix : prefixes) {
    if (reason) run.report_rest(prefix, status, *reason);
  }
  return !reason;
}

}  // namespace sonde
