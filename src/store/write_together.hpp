// All ranks write one file together: who writes what is known before anything is written.
#pragma once

#include "analysis/results.hpp"

#include <mpi.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <vector>

namespace sonde {

/// What one rank contributes to a file.
struct RunPart {
  std::vector<DeviceResult> devices{};
  std::vector<UnauditedDevice> unaudited{};
};

/// Runs a step of writing so that all ranks learn whether it worked on every other before anyone
/// goes on.
using StepRunner = std::function<void(const std::function<void()>&)>;

/// Runs a step everywhere, then lets every rank know whether it worked everywhere.
/// @throws StoreError on all ranks alike; CommError if the others do not come to it
void run_step_together(MPI_Comm comm, const std::function<void()>& step);

/// Collective. @param path of the unfinished file @throws as write_run_together does
void write_together(MPI_Comm comm, const std::filesystem::path& path, const Provenance& provenance,
                    const RunPart& mine, const StepRunner& run_step, std::uint64_t gathered_bytes);

/// Collective. A run file with nothing in it, to see whether HDF5 and MPI together can write there.
/// Removing it, also after an error, is left to the caller. @throws StoreError with HDF5's reason
void write_trial_file(MPI_Comm comm, const std::filesystem::path& path);

/// A file that was closed without an error must also open, and hold every device.
/// @throws StoreError
void check_whole(const std::filesystem::path& path, std::uint64_t devices);

}  // namespace sonde
