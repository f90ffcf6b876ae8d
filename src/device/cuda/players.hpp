// One function for each kind of probe: lays out the launch, runs it, checks it, and fills the trace
// (all but its conditions).
#pragma once

#include "device/cuda/session.hpp"
#include "device/probe.hpp"

namespace sonde::cuda {

/// @throws DeviceError, DeviceLostError; likewise the others
Trace play_chase(Session& session, const ChaseProbe& probe);
/// The part of play_chase that executes code.
Trace play_code(Session& session, const ChaseProbe& probe);
Trace play_clock(Session& session, const ClockProbe& probe);
Trace play_timestamps(Session& session, const TimestampProbe& probe);
Trace play_clusters(Session& session, const ClusterProbe& probe);
Trace play_stream(Session& session, const StreamProbe& probe);
Trace play_shared_chase(Session& session, const SharedChaseProbe& probe);
Trace play_shared_stream(Session& session, const SharedStreamProbe& probe);
Trace play_bypass(Session& session, const BypassProbe& probe);

/// @throws DeviceError: the size of a bank could only be chosen on Kepler
void refuse_bank_mode(BankMode mode);

}  // namespace sonde::cuda
