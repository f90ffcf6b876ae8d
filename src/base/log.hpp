// Messages on stderr for the person who started the run, one line each. Control characters in them
// (for example from file names) are shown as escapes.
#pragma once

#include <string>
#include <string_view>

namespace sonde {

/// Says whose messages these are, once at the start. A single rank is not named in them.
void set_log_speaker(const std::string& host, int rank, int ranks);

/// A message of all ranks; only rank 0 prints it. Empty text prints nothing.
void log_world(std::string_view text);

/// A message of this rank, with its host and rank in front. Empty text prints nothing.
void log_local(std::string_view text);

}  // namespace sonde
