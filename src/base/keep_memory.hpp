// How the memory of this process is managed, where the C library lets one say so.
#pragma once

namespace sonde {

/// Lets the process keep what it frees, for the next long list: the C library would give lists of
/// megabytes back to the system each time, whose new pages must be cleared and mapped again (for a
/// list of a million accesses as long as all else that is done with it). Up to 128 MiB.
void keep_freed_memory();

}  // namespace sonde
