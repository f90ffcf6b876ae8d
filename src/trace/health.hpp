// A list of the health readings of a device, with their names, units and meanings.
#pragma once

#include "trace/inventory.hpp"

namespace sonde {

/// False if the health was never read: the device was not opened or was given up, and all are 0.
inline bool is_known(const Health& health) {
  return health.temperature_c > 0 || health.sm_clock_hz > 0;
}

/// Calls `visit` with the name, unit, meaning and member of each reading, in the order of files.
template <class Visit>
void for_each_health(Visit&& visit) {
  visit("temperature_c", "degree_Celsius", "GPU temperature", &Health::temperature_c);
  visit("power_w", "W", "power drawn", &Health::power_w);
  visit("sm_clock_hz", "Hz", "SM clock", &Health::sm_clock_hz);
  visit("memory_clock_hz", "Hz", "memory clock", &Health::memory_clock_hz);
  visit("throttle_reasons", "1", "NVML clocks event reasons, a bit mask",
        &Health::throttle_reasons);
  visit("ecc_corrected", "1", "corrected ECC errors", &Health::ecc_corrected);
  visit("ecc_uncorrected", "1", "uncorrected ECC errors", &Health::ecc_uncorrected);
  visit("remapped_rows", "1", "remapped memory rows", &Health::remapped_rows);
  visit("remap_pending", "1", "a row waits to be remapped", &Health::remap_pending);
  visit("remap_failure", "1", "a row could not be remapped", &Health::remap_failure);
  visit("foreign_processes", "1", "most compute processes of others that were seen on the GPU",
        &Health::foreign_processes);
}

}  // namespace sonde
