#include "jobs/chase/usable_memory.hpp"

#include "base/gpu_facts.hpp"

#include <algorithm>

namespace sonde {

std::uint64_t usable_memory_bytes(const DeviceInfo& gpu) {
  const std::uint64_t left_bytes = std::min<std::uint64_t>(gpu.memory_bytes / 10, 6_GiB);
  return (gpu.memory_bytes - left_bytes) / large_page_bytes * large_page_bytes;
}

}  // namespace sonde
