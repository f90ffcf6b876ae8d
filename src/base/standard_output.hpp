// Makes sure that printed output is either written completely or reported as an error.
#pragma once

namespace sonde {

/// To be called first. If a standard stream is closed, the next opened file would get its number
/// and receive the printed text; so closed streams become read-only ones.
void hold_standard_streams();

/// To be called at the end of a process that has printed: lost output must not look like success.
/// @throws StoreError
void finish_output();

}  // namespace sonde
