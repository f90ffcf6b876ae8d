// Deadlines for programs that run slower than on a machine of their own: under compute-sanitizer,
// valgrind, a debugger.
#pragma once

namespace sonde {

/// What all deadlines of probes and of workers are multiplied by: the environment variable
/// SONDE_DEADLINE_FACTOR, from 1 to 10000; 1 if it is not set or no such number.
double deadline_factor();

}  // namespace sonde
