// How much memory chases may take.
#pragma once

#include "trace/inventory.hpp"

#include <cstdint>

namespace sonde {

/// A multiple of the large page. Leaves a tenth of the memory, or 6 GiB on large GPUs, to the
/// driver and to the flushing of caches.
std::uint64_t usable_memory_bytes(const DeviceInfo& gpu);

}  // namespace sonde
