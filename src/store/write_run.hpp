// The one file of a run, in two ways that give the same content: all ranks together, or one process
// from shards and other run files.
#pragma once

#include "analysis/results.hpp"

#include <mpi.h>

#include <filesystem>
#include <string>
#include <vector>

namespace sonde {

/// Collective: every rank of `comm` calls it, those without a device with nullptr. The provenance
/// and the unaudited devices of rank 0 are used; rows are in the order of ranks. The file is
/// written as `<path>.part` and renamed when whole. On failure every rank throws the same
/// StoreError, and no part of the file is left.
void write_run_together(MPI_Comm comm, const std::filesystem::path& path,
                        const Provenance& provenance, const DeviceResult* mine,
                        const std::vector<UnauditedDevice>& unaudited);

/// What a merge had to leave out, in sentences for the log.
struct MergeNotes {
  std::vector<std::string> notes;
};

/// The same file from shards, by one process, one device in memory at a time; rows are in the order
/// of ranks. `without_shard`: devices that left none (lost before they measured). A shard that
/// cannot be read is left out with a note, and its device, if `without_shard` has it not, too.
/// @throws StoreError
MergeNotes write_run_from_shards(const std::filesystem::path& path, const Provenance& provenance,
                                 const std::vector<std::filesystem::path>& shards,
                                 const std::vector<DeviceResult>& without_shard,
                                 const std::vector<UnauditedDevice>& unaudited);

/// Joins run files, shards and parts folders of one configuration, in the order given. A GPU that
/// occurs again is kept once: the run that started last, unless only an earlier one is complete.
/// @throws StoreError if a file cannot be read; ConfigError if the config hashes differ
MergeNotes merge_runs(const std::vector<std::filesystem::path>& sources,
                      const std::filesystem::path& path);

}  // namespace sonde
