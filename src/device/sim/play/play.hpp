// How a simulated GPU plays each kind of probe: one overload each, so that a missing one does not
// compile. All are pure except for the caches in `memory`. The traces go back to SimDevice.
#pragma once

#include "device/device.hpp"
#include "device/sim/play/launch.hpp"

namespace sonde::sim {

Trace play(const Launch& launch, const ChaseProbe& probe);
Trace play(const Launch& launch, const ClockProbe& probe);
Trace play(const Launch& launch, const TimestampProbe& probe);  // clock.cpp
Trace play(const Launch& launch, const ClusterProbe& probe);
Trace play(const Launch& launch, const StreamProbe& probe);
Trace play(const Launch& launch, const SharedChaseProbe& probe);
Trace play(const Launch& launch, const SharedStreamProbe& probe);
Trace play(const Launch& launch, const SharedAtomicProbe& probe);  // shared.cpp
Trace play(const Launch& launch, const ProgramProbe& probe);
Trace play(const Launch& launch, const DsmProbe& probe);
Trace play(const Launch& launch, const HostProbe& probe);
Trace play(const Launch& launch, const BranchProbe& probe);          // control.cpp
Trace play(const Launch& launch, const WaitProbe& probe);            // control.cpp
Trace play(const Launch& launch, const BarrierProbe& probe);         // control.cpp
Trace play(const Launch& launch, const SleepProbe& probe);           // control.cpp
Trace play(const Launch& launch, const OccupancyProbe& probe);       // occupancy.cpp
Trace play(const Launch& launch, const ConstantStreamProbe& probe);  // constant.cpp
Trace play(const Launch& launch, const LaunchProbe& probe);
Trace play(const Launch& launch, const PaceProbe& probe);  // clock.cpp
Trace play(const Launch& launch, const ArithmeticProbe& probe);

/// A stream through the memory of a peer; host.cpp. @throws DeviceError if there is no link
Trace play_at_peer(const Launch& launch, const StreamProbe& probe);

}  // namespace sonde::sim
