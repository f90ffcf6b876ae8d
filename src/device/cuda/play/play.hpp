// How a GPU plays each kind of probe, within Session::measure: one overload each, so that a missing
// one does not compile. They lay out the launch, run it, check it, and fill the trace.
#pragma once

#include "device/cuda/session/session.hpp"
#include "device/probe/probe.hpp"

namespace sonde::cuda {

/// All overloads: @throws DeviceError, DeviceLostError
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

/// Registers per thread of the kernels of an OccupancyProbe, ascending. @throws DeviceError
std::vector<int> list_register_counts();
Trace play(Session& session, const ConstantStreamProbe& probe);
Trace play(Session& session, const LaunchProbe& probe);
Trace play(Session& session, const PaceProbe& probe);
Trace play(Session& session, const ArithmeticProbe& probe);

/// Device::machine_code, of the kernels that run on this GPU; arithmetic.cpp.
std::string machine_code(const std::string& op);

}  // namespace sonde::cuda
