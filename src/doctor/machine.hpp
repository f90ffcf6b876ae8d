// The checks of a launch, a machine and the folder of the results. `sonde run` makes the certain
// ones too, and refuses to start if one fails.
#pragma once

#include "doctor/checks.hpp"

#include <filesystem>
#include <string>
#include <string_view>

namespace sonde {

/// How this process was started, from the variables of Open MPI and Slurm.
struct Launch {
  std::string launcher{};  // "mpirun", "srun"; "" if this process was started alone
  bool is_task = false;    // started by the launcher itself, not by a shell or script of a task
  bool has_pmi = false;    // has the variables with which MPI finds other processes (PMIx, PMI-2)
  int ranks = 1;
  int local_rank = 0;  // index among the ranks of this node
};
Launch read_launch();

/// Warns if MPI will not find the other processes. Call it before MPI starts, since MPI may end the
/// process. Not certain: an Open MPI built with Slurm's PMI-1 needs no such variables.
Check check_pmi(const Launch& launch);

/// Whether MPI knows all processes that the launcher started. Certain if MPI knows only this one
/// and the launcher started it itself; otherwise a warning.
Check check_launch(const Launch& launch, int mpi_ranks);

/// The folder of a file: "." for "run.h5".
std::filesystem::path folder_of(const std::filesystem::path& file);

/// Certain: fails if the results cannot be written into this folder. Makes and removes an empty
/// file, the only way to find read-only mounts, root on NFS and refused locks. May hang.
Checks check_folder(const std::filesystem::path& folder);

/// Not certain: fails if the disk lacks room for all ranks. @param suite the suite to be run
Check check_space(const Launch& launch, const std::filesystem::path& folder,
                  std::string_view suite);

}  // namespace sonde
