// Longer deadlines for programs that run slowly: under compute-sanitizer, valgrind or a debugger.
#pragma once

namespace sonde {

/// The factor for all deadlines of probes and workers: the environment variable
/// SONDE_DEADLINE_FACTOR, from 1 to 10000; 1 if it is not set or not such a number.
double deadline_factor();

}  // namespace sonde
