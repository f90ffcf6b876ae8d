// The one file of a run, in three ways that give the same content: all ranks together, one rank of
// its shard, or one process alone (merge.hpp uses it for shards and other run files).
#pragma once

#include "analysis/results.hpp"
#include "store/part_source.hpp"

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <vector>

namespace sonde {

/// Collective: every rank of `comm` calls it with its part. The provenance of rank 0 is used; rows
/// are in the order of ranks. The file is written as `<path>.part`, and renamed when whole; after
/// an error no part of it is left. Rank 0 writes what it alone can: what has one chunk, and the
/// chunks that it can copy from the shards of all ranks as they are. The rest is written by all,
/// read back and compared.
/// @param on_step called before each of the steps that all ranks take together
/// @param gathered_bytes up to so many in all, rank 0 writes the rest, too
/// @throws StoreError on all ranks alike
/// @throws CommError on one rank alone, if HDF5 failed on it in a call that the others do not
/// return from: the caller must abort
void write_run_together(MPI_Comm comm, const std::filesystem::path& path,
                        const Provenance& provenance, const PartSource& mine,
                        const std::function<void()>& on_step = {},
                        std::uint64_t gathered_bytes = most_gathered_bytes);

/// The same file of one rank. Traces stay as they were packed, and keep the checksums that they got
/// when they were measured. @param shard finished, of this run
/// @throws StoreError; no part of the file is left
void write_run_from_shard(const std::filesystem::path& path, const std::filesystem::path& shard,
                          const std::vector<UnauditedDevice>& unaudited);

/// The same file by one process, of `count` parts. `load` is asked once for each, in order; the
/// columns of one are read after those of another.
/// @throws StoreError, or what `load` throws; no part of the file is left
void write_run_alone(const std::filesystem::path& path, const Provenance& provenance,
                     const std::vector<UnauditedDevice>& unaudited, std::size_t count,
                     const std::function<PartSource(std::size_t)>& load);

}  // namespace sonde
