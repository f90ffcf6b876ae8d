// The TOML file of `sonde run --config`: a key for each option of a run. Only its source and
// that of run_options.hpp, which writes such files, know toml++.
#pragma once

#include "config/run_options.hpp"

#include <filesystem>
#include <functional>
#include <string_view>

namespace sonde {

/// What the reading of a file asks its caller.
struct ConfigRules {
  /// Whether the command line has the option of this name: then the file's value is left alone.
  std::function<bool(std::string_view)> is_chosen;
  /// Throws ConfigError if a value cannot be. Called after each key, so that it names the place.
  std::function<void(const RunOptions&)> check;
};

/// Sets the options that a file names. A value must have the type of its option: a text, a list of
/// texts, a whole number, a number, true or false. The table `[sweep]` has an axis under each key
/// (a list of values, or a range), and `mode`; `[job.<name>]` has options of that job (--set).
/// @throws ConfigError naming file, line and column: no TOML, an unknown key, a value of another
///   type or one that the rules refuse
void read_config_file(const std::filesystem::path& path, const ConfigRules& rules,
                      RunOptions& options);

}  // namespace sonde
