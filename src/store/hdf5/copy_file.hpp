// Copies run files and shards; the copy is changed and then replaces the original.
#pragma once

#include <filesystem>

namespace sonde {

/// Copies a whole file over the target. Unlike std::filesystem::copy_file it reports a cause.
/// @throws StoreError with only the cause; a partial copy remains
void copy_whole_file(const std::filesystem::path& from, const std::filesystem::path& to);

}  // namespace sonde
