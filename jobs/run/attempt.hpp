// Probes that a device may refuse, for jobs that then report the refusal as their answer.
#pragma once

#include "base/error.hpp"
#include "jobs/run/job_run.hpp"

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace sonde {

/// Thrown by a part of a job that has no answer although the device refused no probe.
class NoAnswer : public Error {
 public:
  NoAnswer(Status absence, const std::string& why) : Error(why), status(absence) {}
  Status status;
};

struct Attempt {
  const Trace* trace = nullptr;  // nullptr if refused
  std::string refusal;           // why it was refused
};

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

/// Runs a probe; a DeviceError counts as a refusal.
/// @throws DeviceLostError if nothing more can run
inline Attempt attempt(JobRun& run, std::string label, const ProbeSpec& spec) {
  Attempt attempt;
  const auto refusal = refusal_of([&] { attempt.trace = &run.run(std::move(label), spec); });
  attempt.refusal = refusal.value_or("");
  return attempt;
}

}  // namespace sonde
