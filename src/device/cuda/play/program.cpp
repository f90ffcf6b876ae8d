// Programs on a GPU.
#include "device/cuda/play/play.hpp"
#include "device/device_error.hpp"

namespace sonde::cuda {

Trace play(Session& session, const ProgramProbe& probe) {
  (void)session;
  (void)probe;
  throw DeviceError("programs are not played yet");
}

}  // namespace sonde::cuda
