// From the words of a command line to one command's options.
#pragma once

#include "commands/commands.hpp"

#include <optional>

namespace sonde {

/// @param argv as main got it
/// @returns the command's options, or nothing when help or a version was printed to stdout
/// @throws ConfigError with the parser's message for bad usage, unknown keys, bad values
std::optional<Command> parse_command_line(int argc, const char* const* argv);

}  // namespace sonde
