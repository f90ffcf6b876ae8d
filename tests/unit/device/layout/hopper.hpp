// The shared memory of an SM of Hopper, as CUDA reports it.
#pragma once

#include "base/units.hpp"
#include "device/device.hpp"

namespace sonde::layout {

inline DeviceInfo hopper() {
  DeviceInfo info;
  info.shared_bytes_per_block = 227_KiB;
  info.shared_bytes_per_sm = 228_KiB;
  info.reserved_shared_bytes_per_block = 1_KiB;
  info.shared_carveouts_bytes = {0,       8_KiB,   16_KiB,  32_KiB,  64_KiB,
                                 100_KiB, 132_KiB, 164_KiB, 196_KiB, 228_KiB};
  return info;
}

}  // namespace sonde::layout
