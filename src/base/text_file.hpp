// Small text files that a person names on the command line: configurations and models.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace sonde {

/// All of a file, which must be a regular one: reading a pipe or a device could take for ever.
/// @param most_bytes longer files are refused before they are read
/// @throws ConfigError that names the file and the cause
std::string read_text_file(const std::filesystem::path& path, std::uint64_t most_bytes);

}  // namespace sonde
