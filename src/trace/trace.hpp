// The raw result of one probe: what the hardware's clocks said, and under which conditions. Every
// backend fills it in the same way; all inference starts here; all of it goes into the file.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace sonde {

/// Conditions under which a probe ran. 0: not known.
struct Conditions {
  double sm_clock_hz = 0;
  double memory_clock_hz = 0;
  double temperature_c = 0;
  std::uint64_t throttle_reasons = 0;
  std::uint64_t seed = 0;
  std::int64_t start_unix_ns = 0;
};

/// What one lane of a probe recorded: a lane is one measuring thread (chase), one warp (bypass) or
/// one block (streams, clusters). Columns that a probe does not fill stay empty.
struct LaneTrace {
  int sm = -1;
  int warp = 0;
  int cluster = -1;
  std::vector<std::uint32_t> window_cycles;   // clock window of each recorded access, raw
  std::vector<std::uint64_t> offsets_bytes;   // address of each recorded access in the buffer
  std::vector<std::uint64_t> histogram;       // timed accesses by window_cycles; last bin: or more
  std::vector<std::uint64_t> clock_cycles;    // timestamps: the SM clock
  std::vector<std::uint64_t> globaltimer_ns;  // timestamps: the device-wide timer
  std::uint64_t elapsed_cycles = 0;           // of the whole timed part, by the SM clock
  std::uint64_t accesses = 0;                 // in elapsed_cycles
};

struct Trace {
  Conditions conditions;
  std::vector<LaneTrace> lanes;
  std::vector<double> repeat_ns;            // wall time of each repeat, for streams
  std::uint64_t shared_carveout_bytes = 0;  // shared part of the L1 in force while it ran
  std::uint64_t buffer_offset_bytes = 0;    // where in the memory it had the buffer lay
  double device_s = 0;                      // for which the device was at work on it
};

/// A probe as it was asked for and what came back: one row of `/jobs/<job>/probes`.
struct ProbeRecord {
  std::string label;            // what the job wanted to know, for example "size 16384"
  std::string kind;             // "chase", "stream", ...
  std::string parameters_json;  // all parameters but the lists of offsets
  Trace trace;
};

}  // namespace sonde
