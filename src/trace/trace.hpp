// The raw result of one probe: the readings of the hardware's clocks, and the conditions. Every
// backend fills it in the same way, all inference starts from it, and all of it is stored.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace sonde {

/// Conditions under which a probe ran. 0: unknown.
struct Conditions {
  double sm_clock_hz = 0;
  double memory_clock_hz = 0;
  double temperature_c = 0;
  std::uint64_t throttle_reasons = 0;
  std::uint64_t seed = 0;
  std::int64_t start_unix_ns = 0;
};

/// Bins of a histogram of clock windows: one each for 0, 1, 2, ... cycles. The last one counts
/// longer ones, too.
inline constexpr std::uint64_t histogram_bins = 2048;

/// A bin of a histogram with a count above 0.
struct WindowCount {
  std::uint32_t window_cycles = 0;  // number of the bin
  std::uint64_t accesses = 0;
};

/// The bins with a count above 0, ascending.
/// @param counts [bin]
template <class Count>
std::vector<WindowCount> to_histogram(std::span<const Count> counts) {
  std::vector<WindowCount> histogram;
  for (std::size_t bin = 0; bin < counts.size(); ++bin) {
    if (counts[bin] > 0) histogram.push_back({static_cast<std::uint32_t>(bin), counts[bin]});
  }
  return histogram;
}

/// The recordings of one lane of a probe. A lane is one measuring thread (chase), one warp
/// (programs) or one block (streams, clusters). Members that a probe does not fill stay empty.
struct LaneTrace {
  int sm = -1;
  int warp = 0;
  int cluster = -1;
  std::vector<std::uint32_t> window_cycles;  // clock window of each recorded access, raw
  /// Addresses in the buffer, one round: recorded access i went to offsets_bytes[i % size].
  std::vector<std::uint64_t> offsets_bytes;
  std::vector<WindowCount> histogram;         // timed accesses by window_cycles, ascending
  std::vector<std::uint64_t> clock_cycles;    // timestamps: the SM clock
  std::vector<std::uint64_t> globaltimer_ns;  // timestamps: the device-wide timer
  std::vector<std::uint64_t> counts;  // programs: by ProgramCount (device/probe/program_probe.hpp)
  std::uint64_t elapsed_cycles = 0;   // duration of the whole timed part, by the SM clock
  std::uint64_t accesses = 0;         // number of accesses in elapsed_cycles
};

/// The result of one probe.
struct Trace {
  Conditions conditions;
  std::vector<LaneTrace> lanes;
  std::vector<double> repeat_ns;            // wall time of each repeat, for streams
  std::uint64_t shared_carveout_bytes = 0;  // carve-out in force while the probe ran
  std::uint64_t buffer_offset_bytes = 0;    // address of the buffer
  double device_s = 0;                      // time in which the device worked on the probe
};

/// A probe as requested, and its result: one row of `/probes`.
struct ProbeRecord {
  std::string label;            // purpose of the probe, for example "size 16384"
  std::string kind;             // "chase", "stream", ...
  std::string parameters_json;  // all parameters except the lists of offsets
  Trace trace;
};

}  // namespace sonde
