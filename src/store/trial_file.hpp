// Whether HDF5 and MPI together can write somewhere.
#pragma once

#include <mpi.h>

#include <filesystem>

namespace sonde {

/// Collective. All ranks make a file as the run file is made. Removing it, also after an error, is
/// left to the caller.
/// @throws StoreError with HDF5's reason
void write_trial_file(const std::filesystem::path& path, MPI_Comm comm);

}  // namespace sonde
