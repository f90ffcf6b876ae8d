// Programs on a simulated GPU.
#include "device/device_error.hpp"
#include "device/sim/play/play.hpp"

namespace sonde::sim {

Trace play(const Launch& launch, const ProgramProbe& probe) {
  (void)launch;
  (void)probe;
  throw DeviceError("programs are not played yet");
}

}  // namespace sonde::sim
