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

/// If all tables together have no more bytes than this, rank 0 writes them, which takes 0.2 s,
/// about as long as the ranks need to synchronize for each large table. Two GPUs have 220 MB: all
/// ranks together write them in 2.6 s, rank 0 alone in 3.6 s (H200, 2026-11-29).
constexpr std::uint64_t most_gathered_bytes = 32 << 20;

/// Collective: every rank of `comm` calls it with its part. The provenance of rank 0 is used; rows
/// are in the order of ranks. The file is written as `<path>.part` and renamed when complete; after
/// an error it is removed. Rank 0 writes tables that fit one chunk, since no other rank could help
/// to compress the chunk. All ranks write the other tables, then read them back and compare.
/// @param on_step called before each collective step
/// @param gathered_bytes if all tables have no more bytes than this, rank 0 writes all of them
/// @throws StoreError on all ranks
/// @throws CommError on one rank alone, if HDF5 failed on it in a collective call in which the
/// other ranks still wait: the caller must abort
void write_run_together(MPI_Comm comm, const std::filesystem::path& path,
                        const Provenance& provenance, const RunPart& mine,
                        const std::function<void()>& on_step = {},
                        std::uint64_t gathered_bytes = most_gathered_bytes);

/// Collective. Writes a run file without content, to test whether HDF5 and MPI can write there. The
/// caller removes the file, also after an error. @throws StoreError with HDF5's reason
void write_trial_file(MPI_Comm comm, const std::filesystem::path& path);

}  // namespace sonde
