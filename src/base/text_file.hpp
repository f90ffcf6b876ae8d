// Small files, read or written whole: configurations and models that a person names on the command
// line, and what ranks leave for each other.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace sonde {

/// All of a file, which must be a regular one: reading a pipe or a device could take for ever.
/// @param most_bytes longer files are refused before they are read
/// @throws ConfigError that names the file and the cause
std::string read_text_file(const std::filesystem::path& path, std::uint64_t most_bytes);

/// It appears, or replaces what is there, when it is whole. @throws StoreError
void write_text_file(const std::filesystem::path& path, const std::string& text);

/// Of several processes that make the same file one succeeds. @returns whether this one did; it may
/// be read before it is whole
bool write_new_file(const std::filesystem::path& path, const std::string& text);

}  // namespace sonde
