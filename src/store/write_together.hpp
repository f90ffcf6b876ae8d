// All ranks write one file together. Before writing, they agree which rank writes which rows.
#pragma once

#include "analysis/results.hpp"

#include <mpi.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <vector>

namespace sonde {

/// The devices that one rank adds to a file.
struct RunPart {
  std::vector<DeviceResult> devices{};
  std::vector<UnauditedDevice> unaudited{};
};

/// Runs a step of writing; before any rank goes on, all ranks learn whether all succeeded.
using StepRunner = std::function<void(const std::function<void()>&)>;

/// A StepRunner for the ranks of `comm`.
/// @throws StoreError on all ranks if it failed on one; CommError if a rank does not come to it
void run_step_together(MPI_Comm comm, const std::function<void()>& step);

/// Collective. @param path the unfinished file @throws as write_run_together does
void write_together(MPI_Comm comm, const std::filesystem::path& path, const Provenance& provenance,
                    const RunPart& mine, const StepRunner& run_step, std::uint64_t gathered_bytes);

/// Collective. Writes a run file without content, to test whether HDF5 and MPI can write there. The
/// caller removes the file, also after an error. @throws StoreError with HDF5's reason
void write_trial_file(MPI_Comm comm, const std::filesystem::path& path);

/// Checks that a closed file can be opened and holds that number of devices.
/// @throws StoreError
void check_whole(const std::filesystem::path& path, std::uint64_t devices);

}  // namespace sonde
