// Standard output that takes what is printed, or an error that says that it does not.
#pragma once

namespace sonde {

/// To be called first: a closed stream would give its number to the next file that is opened, and
/// what is printed would go into that file. Reading ends in their place make writing fail.
void hold_standard_streams();

/// To be called by a process that has printed, at the end: what it printed is the result of most
/// commands, and losing it must not look like success.
/// @throws StoreError
void finish_output();

}  // namespace sonde
