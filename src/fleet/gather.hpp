// Asks every rank what it sees and where it runs, so that all can decide the same.
#pragma once

#include "device/device.hpp"
#include "fleet/assign.hpp"

#include <mpi.h>

#include <string>
#include <vector>

namespace sonde {

std::string host_name();

/// Collective. The views of all ranks, in rank order, the same everywhere. Ranks of one node are
/// found by shared memory, never by SLURM_LOCALID (0 everywhere under sbatch + mpirun).
/// @throws CommError
std::vector<RankView> gather_views(MPI_Comm comm, const std::vector<DeviceChoice>& visible);

/// Collective. One text per rank, in rank order, the same everywhere. @throws CommError
std::vector<std::string> gather_texts(MPI_Comm comm, const std::string& text);

/// Collective. Rank 0's text, everywhere. @throws CommError
std::string broadcast_text(MPI_Comm comm, const std::string& text);

enum class Outcome { ok, failed };

/// Collective, after work that may have failed on some ranks: all go on, or all throw the same
/// CommError with the first failing rank, its host and its reason.
void agree(MPI_Comm comm, Outcome outcome, const std::string& reason);

}  // namespace sonde
