// How a simulated GPU plays each kind of probe: one overload for each, so a missing one does not
// compile. All are pure but for the caches in `memory`, which every launch finds empty.
#pragma once

#include "device/device.hpp"
#include "device/sim/memory_system.hpp"

namespace sonde::sim {

/// A record of two bytes (device.hpp) says no more.
inline constexpr std::uint32_t longest_window_cycles = 65535;

/// One launch on one die.
struct Launch {
  const Model& model;
  const Faults& faults;
  const Die& die;
  MemorySystem& memory;
  double sm_clock_hz = 0;    // as throttled
  double now_ns = 0;         // simulated time since the device was opened
  std::uint64_t number = 0;  // from 1
  std::uint64_t seed = 0;    // of everything that is drawn in this launch
};

Trace play(const Launch& launch, const ChaseProbe& probe);
Trace play(const Launch& launch, const ClockProbe& probe);
Trace play(const Launch& launch, const TimestampProbe& probe);
Trace play(const Launch& launch, const ClusterProbe& probe);
Trace play(const Launch& launch, const StreamProbe& probe);
Trace play(const Launch& launch, const SharedChaseProbe& probe);
Trace play(const Launch& launch, const SharedStreamProbe& probe);
Trace play(const Launch& launch, const BypassProbe& probe);

/// What a launch does that checks the words it loads. @throws DeviceError by the fault wrong_data
void check_data(const Launch& launch);

/// Shared part of the L1 array in force for blocks that keep `block_bytes` of shared memory, with
/// at least `wanted_bytes` of it if given: the smallest that will do.
/// @throws DeviceError if none will
std::uint64_t choose_carveout(const DeviceInfo& info, std::uint64_t block_bytes,
                              std::optional<std::uint64_t> wanted_bytes);

/// Blocks of this size that live on one SM at a time.
/// @throws DeviceError if not even one does
int resident_blocks(const Model& model, int block_threads, std::uint64_t block_shared_bytes);

}  // namespace sonde::sim
