// How a job turns timed windows into latencies: the window of a chase holds the load, the store
// that keeps it in place, and the reading of the clock itself.
#pragma once

#include "jobs/run/job_run.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace sonde {

/// Cycles of a chase window that are not its load, to be subtracted from every window of a
/// ChaseProbe, SharedChaseProbe or ProgramProbe: `clock.window_cycles` if the clock job ran, else
/// measured now on SM 0 (Mei and Chu 2016, section 4.2: "clock() plus dependent store").
double window_overhead_cycles(JobRun& run);

/// SM clock that turns cycles into time: as measured, else as the driver says; 0: not known.
double sm_clock_hz(const JobRun& run);

/// Latencies of all accesses of a trace: its windows less the overhead, lane after lane.
std::vector<double> latencies_of(const Trace& trace, double overhead_cycles);

/// Latency below the resolution of one window: the mean without the longest and the shortest tenth.
double precise_latency_cycles(std::span<const std::uint32_t> window_cycles, double overhead_cycles);

/// Windows of all lanes, one lane after the other.
std::vector<std::uint32_t> all_windows(const Trace& trace);

/// A metric as the median of its samples, with their median absolute deviation; of a clock in steps
/// of two to eight cycles as the mean of those within a step of the median.
Finding found_median(std::string metric, const std::vector<double>& values);

/// Cycles per access of each lane, over all that it did.
std::vector<double> cycles_per_access(const Trace& trace);

/// A lane for each SM of the device, in their order, over the same offsets.
std::vector<ChaseLane> lanes_of_all_sms(const JobRun& run, LoadPath path,
                                        const std::vector<std::uint64_t>& offsets_bytes);

/// 0, 1, ..., count - 1: every SM of a device.
std::vector<int> all_sms(int sm_count);

/// At most `count` SMs, spread evenly over the numbering.
std::vector<int> spread_sms(int sm_count, int count);

}  // namespace sonde
