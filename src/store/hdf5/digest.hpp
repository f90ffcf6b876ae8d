// `<shard>.findings`: the findings of a finished shard once more, without probes, in a form that is
// read in a millisecond. Rank 0 judges a fleet by these while all ranks wait for it; a shard takes
// HDF5 many times as long.
#pragma once

#include "analysis/results.hpp"

#include <filesystem>
#include <optional>
#include <string>

namespace sonde {

/// @param shard where the finished shard of this device is
/// @throws StoreError
void write_digest(const std::filesystem::path& shard, const DeviceResult& device,
                  const std::string& config_hash);

/// The device without its probes; nothing if there is no whole digest of that configuration.
std::optional<DeviceResult> read_digest(const std::filesystem::path& shard,
                                        const std::string& config_hash);

/// Before the shard is written anew.
void remove_digest(const std::filesystem::path& shard);

}  // namespace sonde
