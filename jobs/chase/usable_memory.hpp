// How much memory chases may take.
#pragma once

#include "trace/inventory.hpp"

#include <cstdint>

namespace sonde {

/// Whole large pages. A tenth of the memory is left alone, or as much as the driver and the
/// flushing of caches need on the largest GPUs.
std::uint64_t usable_memory_bytes(const DeviceInfo& gpu);

}  // namespace sonde
