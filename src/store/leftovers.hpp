// What is left of a parts folder once its run file is whole.
#pragma once

#include <filesystem>
#include <functional>
#include <vector>

namespace sonde {

/// Shards in the parts folder of a run file that were measured at none of its points. Each shard is
/// opened, which takes a while where there are many. @param on_shard called before each of them
/// @throws StoreError if the run file cannot be read
std::vector<std::filesystem::path> list_foreign_shards(const std::filesystem::path& run,
                                                       const std::function<void()>& on_shard = {});

/// Removes the parts folder of a run file that is whole, but for results that the file does not
/// hold: these shards, and those that were set aside (Shard::resume).
/// @returns them; the folder is gone if there are none
std::vector<std::filesystem::path> remove_joined_parts(
    const std::filesystem::path& run, const std::vector<std::filesystem::path>& foreign);

}  // namespace sonde
