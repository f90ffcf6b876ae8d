// Messages for the person who started the run, on stderr: one line each, never mixed into results.
// Control characters in them, as a file name may hold, are shown and not sent to the terminal.
#pragma once

#include <string>
#include <string_view>

namespace sonde {

/// Who speaks: set once at the start. Rank 0 of one rank speaks without a prefix.
void set_log_speaker(const std::string& host, int rank, int ranks);

/// From one rank for all: only rank 0 prints. Empty text prints nothing.
void log_world(std::string_view text);

/// From this rank about itself, with host and rank before it. Empty text prints nothing.
void log_local(std::string_view text);

}  // namespace sonde
