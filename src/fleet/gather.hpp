// Collects what every rank sees and where it runs, so that all ranks can decide the same.
#pragma once

#include "device/device.hpp"
#include "fleet/assign.hpp"
#include "mpi/collectives.hpp"

#include <mpi.h>

#include <vector>

namespace sonde {

/// Collective. The views of all ranks in rank order, the same on every rank. Shared memory tells
/// which ranks are on one machine, not names or SLURM_LOCALID (always 0 under sbatch + mpirun).
/// @throws CommError
std::vector<RankView> gather_views(MPI_Comm comm, const std::vector<DeviceChoice>& visible);

}  // namespace sonde
