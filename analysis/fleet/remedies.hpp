// What an operator does about a GPU in trouble: one table, by what is broken. docs/remedies.md
// shows it to people.
#pragma once

#include "analysis/fleet/charge.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace sonde {

/// Commands to paste on the node, and acts, in order. First comes a command that checks the trouble
/// and changes nothing. Commands for one GPU name it by its UUID, quoted for the shell.
std::vector<std::string> remedies(Trouble trouble, std::string_view uuid);

}  // namespace sonde
