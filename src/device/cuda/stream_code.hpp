// Which kernel plays a stream, and which streams there are none for.
#pragma once

#include "device/probe.hpp"
#include "kernels/stream/stream.hpp"
#include "trace/inventory.hpp"

namespace sonde::cuda {

/// @throws DeviceError if there is no such kernel, or none that runs on this GPU
kernels::Kernel<kernels::StreamLaunch> choose_stream_kernel(const DeviceInfo& info,
                                                            const StreamProbe& probe);

}  // namespace sonde::cuda
