// The end of a run: the one file, rank 0's comparison of the devices, and the exit status.
#pragma once

#include "base/exit_status.hpp"
#include "commands/measure.hpp"
#include "mpi/session.hpp"

namespace sonde {

/// All ranks came: they write the run file together. Collective. @returns the same on every rank
ExitStatus finish_together(MpiSession& mpi, const MeasurePlan& plan, const Measured& mine,
                           const std::vector<UnauditedDevice>& unaudited);

/// Somebody was lost: rank 0 alone builds the same file from the shards.
/// @param lost a row for each lost device, used if it left no shard
ExitStatus finish_without(const MeasurePlan& plan, const std::vector<DeviceResult>& lost,
                          const std::vector<UnauditedDevice>& unaudited);

}  // namespace sonde
