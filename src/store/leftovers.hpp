// What is left of a parts folder once its run file is whole.
#pragma once

#include <filesystem>
#include <vector>

namespace sonde {

/// Removes the parts folder of a run file that is whole, but for results that the file does not
/// hold: shards of other configurations, those that were set aside (Shard::resume) among them.
/// @returns them; the folder is gone if there are none
/// @throws StoreError if the run file cannot be read
std::vector<std::filesystem::path> remove_joined_parts(const std::filesystem::path& run);

}  // namespace sonde
