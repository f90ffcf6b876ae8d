// The one file of a run, in two ways that give the same content: all ranks together, or one process
// alone (from shards and other run files: merge.hpp).
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

/// If all tables together have no more bytes than this, rank 0 writes them alone: of four GPUs (110
/// MB each) it packs the chunks by threads in less time than it takes the ranks to write together
/// and to read back what they wrote.
constexpr std::uint64_t most_gathered_bytes = 512 << 20;

/// Collective: every rank of `comm` calls it with its part. The provenance of rank 0 is used; rows
/// are in the order of ranks. The file is written as `<path>.part`, and renamed when whole; after
/// an error no part of it is left. Rank 0 writes the tables of one chunk, as no other rank could
/// help to pack it; the rest is written by all, read back and compared.
/// @param on_step called before each of the steps that all ranks take together
/// @param gathered_bytes up to so many in all, rank 0 writes the rest, too
/// @throws StoreError on all ranks alike
/// @throws CommError on one rank alone, if HDF5 failed on it in a call that the others do not
/// return from: the caller must abort
void write_run_together(MPI_Comm comm, const std::filesystem::path& path,
                        const Provenance& provenance, const RunPart& mine,
                        const std::function<void()>& on_step = {},
                        std::uint64_t gathered_bytes = most_gathered_bytes);

/// The same file by one process, of `count` parts, one in memory at a time.
/// @param load gives the devices of each, in their order
/// @throws StoreError, or what `load` throws; no part of the file is left
void write_run_alone(const std::filesystem::path& path, const Provenance& provenance,
                     const std::vector<UnauditedDevice>& unaudited, std::size_t count,
                     const std::function<std::vector<DeviceResult>(std::size_t)>& load);

/// The device of a finished shard of this run, with its traces.
/// @throws StoreError if the shard cannot be read or does not hold one device
DeviceResult read_own_shard(const std::filesystem::path& shard);

/// `<shard>.findings`: a run file of the findings of a finished shard, without probes. Rank 0
/// judges a fleet by these while all ranks wait for it; a shard has tables for each job, and takes
/// ten times as long: if this cannot be written, that is read. @param shard where the finished
/// shard of this device is
void write_digest(const std::filesystem::path& shard, const DeviceResult& device,
                  const std::string& config_hash);
/// The device without its probes; nothing if there is no whole digest of that configuration.
std::optional<DeviceResult> read_digest(const std::filesystem::path& shard,
                                        const std::string& config_hash);
/// Before the shard is written anew.
void remove_digest(const std::filesystem::path& shard);

/// The devices of a finished shard, without probes: by its digest, or by the shard itself if a run
/// was killed before it wrote that. None if the shard was measured under another configuration.
/// @throws StoreError if the shard cannot be read
std::vector<DeviceResult> read_finished(const std::filesystem::path& shard,
                                        const std::string& config_hash);

}  // namespace sonde
