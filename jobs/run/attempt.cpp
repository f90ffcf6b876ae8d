// See attempt.hpp.
#include "jobs/run/attempt.hpp"

#include "base/error.hpp"

#include <utility>

namespace sonde {

Attempt attempt(JobRun& run, std::string label, const ProbeSpec& spec) {
  try {
    return {&run.run(std::move(label), spec), ""};
  } catch (const DeviceLostError&) {
    throw;
  } catch (const DeviceError& error) {
    return {nullptr, error.what()};
  }
}

}  // namespace sonde
