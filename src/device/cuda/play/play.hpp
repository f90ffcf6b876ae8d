// How a GPU plays each kind of probe, within Session::measure: one overload for each, so a missing
// one does not compile. They lay out the launch, run it, check it, and fill the trace.
#pragma once

#include "device/cuda/session/session.hpp"
#include "device/probe/probe.hpp"

namespace sonde::cuda {

/// @throws DeviceError, DeviceLostError; likewise the others
Trace play(Session& session, const ChaseProbe& probe);
Trace play(Session& session, const ClockProbe& probe);
Trace play(Session& session, const TimestampProbe& probe);
Trace play(Session& session, const ClusterProbe& probe);
Trace play(Session& session, const StreamProbe& probe);
Trace play(Session& session, const SharedChaseProbe& probe);
Trace play(Session& session, const SharedStreamProbe& probe);
Trace play(Session& session, const SharedAtomicProbe& probe);
Trace play(Session& session, const ProgramProbe& probe);
Trace play(Session& session, const DsmProbe& probe);
Trace play(Session& session, const HostProbe& probe);
Trace play(Session& session, const BranchProbe& probe);
Trace play(Session& session, const WaitProbe& probe);
Trace play(Session& session, const BarrierProbe& probe);
Trace play(Session& session, const SleepProbe& probe);
Trace play(Session& session, const OccupancyProbe& probe);

/// Of the kernels of an OccupancyProbe, ascending. @throws DeviceError
std::vector<int> list_register_counts();
Trace play(Session& session, const ConstantStreamProbe& probe);
Trace play(Session& session, const LaunchProbe& probe);
Trace play(Session& session, const PaceProbe& probe);
Trace play(Session& session, const ArithmeticProbe& probe);

/// Device::machine_code, of the kernels that run on this GPU; arithmetic.cpp.
std::string machine_code(const std::string& op);

}  // namespace sonde::cuda
