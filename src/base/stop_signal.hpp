// The signals with which a batch system asks a process to stop.
#pragma once

namespace sonde {

/// From now on SIGUSR1, SIGTERM and SIGINT only set flags; a second SIGINT ends the process.
void note_stop_signals();

/// True after one of these signals: measuring stops after the current job or a time limit.
bool stop_requested();

/// True after SIGTERM (SIGKILL follows within some 30 s) or SIGINT.
bool stop_is_urgent();

}  // namespace sonde
