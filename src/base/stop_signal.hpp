// The signals by which a batch system asks a process to stop.
#pragma once

namespace sonde {

/// From now on SIGUSR1 and SIGTERM are noted, and do nothing else.
void note_stop_signals();

/// True once one of them came: measuring ends at the next job border, or some time later.
bool stop_requested();

/// True once SIGTERM came: SIGKILL follows within some 30 s.
bool stop_is_urgent();

}  // namespace sonde
