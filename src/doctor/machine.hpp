// The checks of a launch, a machine and the folder of the results: each reads a fact and judges it.
// `sonde run` makes those that are certain, too, and refuses to start if one fails.
#pragma once

#include "doctor/checks.hpp"

#include <filesystem>
#include <string>
#include <string_view>

namespace sonde {

/// Who started this process, by the variables of Open MPI and Slurm.
struct Launch {
  std::string launcher{};  // "mpirun", "srun"; "" if this process was started alone
  bool is_task = false;    // by the launcher itself, not by a shell or script that it started
  bool has_pmi = false;    // variables by which MPI finds the other processes (PMIx, PMI-2)
  int ranks = 1;
  int local_rank = 0;  // among those on this node
};
Launch read_launch();

/// Warns if MPI will not find the other processes. To be made before MPI starts, which may end the
/// process. Not certain: Open MPI that was built with PMI-1 of Slurm needs no such variables.
Check check_pmi(const Launch& launch);

/// Certain: whether the launcher started as many processes as MPI knows.
Check check_launch(const Launch& launch, int mpi_ranks);

/// Of a file: "." for "run.h5".
std::filesystem::path folder_of(const std::filesystem::path& file);

/// Certain: whether the results can be written into this folder. Writes and removes a small file:
/// read-only mounts, root on NFS and refused locks show only so. A sick file system may hang it.
Checks check_folder(const std::filesystem::path& folder);

/// Not certain: whether the disk has room for all ranks. @param suite whose needs
Check check_space(const Launch& launch, const std::filesystem::path& folder,
                  std::string_view suite);

}  // namespace sonde
