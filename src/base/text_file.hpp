// Small files, read or written as a whole: configurations, models, files between ranks.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace sonde {

/// Reads a whole regular file. Pipes and devices are refused, since reading them may never end.
/// @param most_bytes longer files are refused
/// @throws ConfigError with the name of the file and the cause
std::string read_text_file(const std::filesystem::path& path, std::uint64_t most_bytes);

/// The file appears, or is replaced, only when it is complete. @throws StoreError
void write_text_file(const std::filesystem::path& path, const std::string& text);

/// Of several processes that create the same file, only one succeeds. @returns true if this one
/// did. Others may read the file before it is complete.
bool write_new_file(const std::filesystem::path& path, const std::string& text);

}  // namespace sonde
