// What the absence of a device's health says.
#pragma once

#include "trace/inventory.hpp"

namespace sonde {

/// Whether anybody asked: a device that was not opened, or was given up, has zeros.
inline bool is_known(const Health& health) {
  return health.temperature_c > 0 || health.sm_clock_hz > 0;
}

}  // namespace sonde
