// The one file of a run, in two ways that give the same content: all ranks together, or one process
// alone (merge.hpp uses it for shards and other run files).
#pragma once

#include "analysis/results.hpp"

#include <mpi.h>

#include <cstddef>
#include <filesystem>
#include <functional>
#include <vector>

namespace sonde {

/// Collective: every rank of `comm` calls it, those without a device with nullptr. The provenance
/// and the unaudited devices of rank 0 are used; rows are in the order of ranks. The file is
/// written as `<path>.part`, read back by each rank and compared, and renamed when whole; after an
/// error no part of it is left.
/// @throws StoreError on all ranks alike
/// @throws CommError on one rank alone, if HDF5 failed on it in a call that the others do not
/// return from: the caller must abort
void write_run_together(MPI_Comm comm, const std::filesystem::path& path,
                        const Provenance& provenance, const DeviceResult* mine,
                        const std::vector<UnauditedDevice>& unaudited);

/// The same file by one process. `load` is asked twice for each device, in order: once for its
/// sizes, once for its content; only one is in memory at a time.
/// @throws StoreError
void write_run_alone(const std::filesystem::path& path, const Provenance& provenance,
                     const std::vector<UnauditedDevice>& unaudited, std::size_t devices,
                     const std::function<DeviceResult(std::size_t)>& load);

}  // namespace sonde
