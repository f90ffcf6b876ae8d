// The TOML file of `sonde run --config`, with a key for each option of a run. Only config_file.cpp
// and run_options.cpp (which writes such files) include toml++.
#pragma once

#include "config/run_options.hpp"

#include <filesystem>
#include <functional>
#include <string_view>

namespace sonde {

/// Functions of the caller for reading a file.
struct ConfigRules {
  /// True if the command line has the option of this name; then the file's value is ignored.
  std::function<bool(std::string_view)> is_chosen;
  /// Throws ConfigError for an impossible value. Called after each key.
  std::function<void(const RunOptions&)> check;
};

/// Sets the options that a file names. A value must have the type of its option: a text, a list of
/// texts, a whole number, a number, true or false.
/// @throws ConfigError with file, line and column: no TOML, an unknown key, a wrong type or value
void read_config_file(const std::filesystem::path& path, const ConfigRules& rules,
                      RunOptions& options);

}  // namespace sonde
