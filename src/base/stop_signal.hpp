// The signals by which a batch system asks a process to stop.
#pragma once

namespace sonde {

/// From now on SIGUSR1, SIGTERM and SIGINT are noted, and do nothing else; a second SIGINT ends the
/// process.
void note_stop_signals();

/// True once one of them came: measuring ends at the next job border, or some time later.
bool stop_requested();

/// True once SIGTERM came, after which SIGKILL follows within some 30 s, or SIGINT.
bool stop_is_urgent();

}  // namespace sonde
