// Copies of run files and shards, which are written into before they take their place.
#pragma once

#include <filesystem>

namespace sonde {

/// All of a file, over what is there. Unlike that of the standard library, it tells why it failed.
/// @throws StoreError with the cause alone; what it wrote is left
void copy_whole_file(const std::filesystem::path& from, const std::filesystem::path& to);

}  // namespace sonde
