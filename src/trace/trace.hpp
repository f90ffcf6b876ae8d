// The raw result of one probe: what the hardware's clocks said, and under which conditions. Every
// backend fills it in the same way; all inference starts here; all of it goes into the file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
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

/// A histogram of clock windows has a bin for each of 0, 1, 2, ... cycles; its last one counts all
/// longer windows, too.
inline constexpr std::uint64_t histogram_bins = 2048;

/// One bin of a histogram that counts anything.
struct WindowCount {
  std::uint32_t window_cycles = 0;  // number of the bin
  std::uint64_t accesses = 0;
};

/// The bins that count anything, ascending.
/// @param counts [bin]
template <class Count>
std::vector<WindowCount> to_histogram(std::span<const Count> counts) {
  std::vector<WindowCount> histogram;
  for (std::size_t bin = 0; bin < counts.size(); ++bin) {
    if (counts[bin] > 0) histogram.push_back({static_cast<std::uint32_t>(bin), counts[bin]});
  }
  return histogram;
}

/// What one lane of a probe recorded: a lane is one measuring thread (chase), one warp (programs)
/// or one block (streams, clusters). Columns that a probe does not fill stay empty.
struct LaneTrace {
  int sm = -1;
  int warp = 0;
  int cluster = -1;
  std::vector<std::uint32_t> window_cycles;  // clock window of each recorded access, raw
  /// Addresses in the buffer, one round: the i-th recorded access went to [i modulo their number].
  std::vector<std::uint64_t> offsets_bytes;
  std::vector<WindowCount> histogram;         // timed accesses by window_cycles, ascending
  std::vector<std::uint64_t> clock_cycles;    // timestamps: the SM clock
  std::vector<std::uint64_t> globaltimer_ns;  // timestamps: the device-wide timer
  std::vector<std::uint64_t> counts;  // programs: by ProgramCount (device/probe/program_probe.hpp)
  std::uint64_t elapsed_cycles = 0;   // of the whole timed part, by the SM clock
  std::uint64_t accesses = 0;         // in elapsed_cycles
};

struct Trace {
  Conditions conditions;
  std::vector<LaneTrace> lanes;
  std::vector<double> repeat_ns;            // wall time of each repeat, for streams
  std::uint64_t shared_carveout_bytes = 0;  // shared part of the L1 in force while it ran
  std::uint64_t buffer_offset_bytes = 0;    // where the buffer lay in what it addresses
  double device_s = 0;                      // for which the device was at work on it
};

/// A probe as it was asked for and what came back: one row of `/probes`.
struct ProbeRecord {
  std::string label;            // what the job wanted to know, for example "size 16384"
  std::string kind;             // "chase", "stream", ...
  std::string parameters_json;  // all parameters but the lists of offsets
  Trace trace;
};

}  // namespace sonde
