// Writes the run file from one process, from shards and other run files (merge.hpp); all ranks
// together write the same content (write_together.hpp).
#pragma once

#include "analysis/results.hpp"

#include <cstddef>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace sonde {

/// Writes the same file as write_run_together from one process, with one device in memory at a
/// time.
/// @param load returns device i; called in order
/// @throws StoreError, or what `load` throws; the unfinished file is removed
void write_run_alone(const std::filesystem::path& path, const Provenance& provenance,
                     const std::vector<UnauditedDevice>& unaudited, std::size_t count,
                     const std::function<DeviceResult(std::size_t)>& load);

/// Checks that a closed file can be opened and holds that number of devices.
/// @throws StoreError
void check_whole(const std::filesystem::path& path, std::uint64_t devices);

/// Gives the whole file its name. @throws StoreError with the system's reason
void move_into_place(const std::filesystem::path& part, const std::filesystem::path& path);

/// Removes the unfinished file. @returns the text of the error with advice
std::string give_up_file(const std::filesystem::path& path, const std::filesystem::path& part,
                         const std::exception& error);

/// The device of a finished shard of this run, with its traces.
/// @throws StoreError if the shard cannot be read or does not hold one device
DeviceResult read_own_shard(const std::filesystem::path& shard);

/// The devices of a finished shard, without probes. Empty if the shard has another configuration.
/// @throws StoreError if the shard cannot be read
std::vector<DeviceResult> read_finished(const std::filesystem::path& shard,
                                        const std::string& config_hash);

}  // namespace sonde
