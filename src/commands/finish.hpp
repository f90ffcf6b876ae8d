// The end of a run: the one file, rank 0's comparison of the devices, and the exit status.
#pragma once

#include "commands/measure.hpp"
#include "fleet/mpi_session.hpp"

namespace sonde {

/// "HDF5 1.10.8, Open MPI 4.1.4, ..."
std::string describe_libraries();

/// All ranks came: they write the run file together. Collective. `mine` is nullptr on a rank that
/// stood down. @returns the exit status, the same on every rank
int finish_together(const Config& config, MpiSession& mpi, const MeasurePlan& plan,
                    const Measured* mine, const std::vector<UnauditedDevice>& unaudited);

/// Somebody was lost: rank 0 alone builds the same file from the shards.
/// @param lost a row for each lost device, used if it left no shard
/// @returns the exit status
int finish_without(const Config& config, const MeasurePlan& plan,
                   const std::vector<DeviceResult>& lost,
                   const std::vector<UnauditedDevice>& unaudited);

/// Compares the devices of a run file, stores the analysis in it and prints the table to stdout.
/// @returns the exit status. @throws StoreError
int analyze_run(const std::string& path);

}  // namespace sonde
