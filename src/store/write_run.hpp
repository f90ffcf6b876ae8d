// Writes the run file in one of two ways that give the same content: all ranks together, or one
// process alone (from shards and other run files: merge.hpp).
#pragma once

#include "analysis/results.hpp"
#include "store/hdf5/stored_tables.hpp"
#include "store/write_together.hpp"

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace sonde {

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

/// Writes the same file from one process, in `count` parts, one in memory at a time.
/// @param load returns the devices of part i; called in order
/// @throws StoreError, or what `load` throws; the unfinished file is removed
void write_run_alone(const std::filesystem::path& path, const Provenance& provenance,
                     const std::vector<UnauditedDevice>& unaudited, std::size_t count,
                     const std::function<std::vector<DeviceResult>(std::size_t)>& load);

/// The device of a finished shard of this run, with its traces.
/// @throws StoreError if the shard cannot be read or does not hold one device
DeviceResult read_own_shard(const std::filesystem::path& shard);

/// Writes `<shard>.findings`: a run file with the findings of a finished shard, without probes.
/// Rank 0 judges a fleet by these files while all ranks wait. Reading a shard takes ten times as
/// long, since it has tables for each job; it is read only if the digest could not be written.
/// @param shard the path of the finished shard
void write_digest(const std::filesystem::path& shard, const DeviceResult& device,
                  const std::string& config_hash);
/// The device without its probes; nothing if there is no complete digest of that configuration.
std::optional<DeviceResult> read_digest(const std::filesystem::path& shard,
                                        const std::string& config_hash);
/// To be called before the shard is written again.
void remove_digest(const std::filesystem::path& shard);

/// The devices of a finished shard, without probes, from its digest or (if a killed run left none)
/// from the shard itself. Empty if the shard has another configuration.
/// @throws StoreError if the shard cannot be read
std::vector<DeviceResult> read_finished(const std::filesystem::path& shard,
                                        const std::string& config_hash);

}  // namespace sonde
