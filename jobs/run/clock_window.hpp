// Turns timed windows into latencies. The window of a chase holds the load, the store of the loaded
// value, and the reading of the clock.
#pragma once

#include "jobs/run/job_run.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace sonde {

/// Cycles of a chase window without its load, to be subtracted from every window of a ChaseProbe,
/// SharedChaseProbe or ProgramProbe: `clock.window_cycles` if the clock job ran, else measured now
/// on SM 0 (Mei and Chu 2016, section 4.2: "clock() plus dependent store").
double window_overhead_cycles(JobRun& run);

/// The SM clock, to turn cycles into time: as measured, else as the driver says; 0: not known.
double sm_clock_hz(const JobRun& run);

/// Latencies of all accesses (windows minus overhead); of a trace lane after lane.
std::vector<double> latencies_of(const LaneTrace& lane, double overhead_cycles);
std::vector<double> latencies_of(const Trace& trace, double overhead_cycles);

/// Latency below the resolution of one window: the mean without the longest and shortest tenth.
double precise_latency_cycles(std::span<const std::uint32_t> window_cycles, double overhead_cycles);

/// Windows of all lanes, one lane after the other.
std::vector<std::uint32_t> all_windows(const Trace& trace);

/// The median of the samples as a finding, with their median absolute deviation. If the clock
/// counts in steps of two to eight cycles: the mean of the samples within a step of the median.
Finding found_median(std::string metric, const std::vector<double>& values);

/// Mean cycles per access of each lane.
std::vector<double> cycles_per_access(const Trace& trace);

/// A lane for each SM of the device, in order, all with the same offsets.
std::vector<ChaseLane> lanes_of_all_sms(const JobRun& run, LoadPath path,
                                        const std::vector<std::uint64_t>& offsets_bytes);

/// 0, 1, ..., sm_count - 1.
std::vector<int> all_sms(const JobRun& run);

/// At most `count` SMs, spread evenly over their numbers.
std::vector<int> spread_sms(const JobRun& run, int count);

/// SMs that decide together: one deviating SM cannot change a median or a vote of three.
inline constexpr int voting_sms = 3;

}  // namespace sonde
