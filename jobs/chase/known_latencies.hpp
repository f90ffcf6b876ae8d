// Latencies of loads whose server is known from how they are made: hits of the first cache of a
// path, and loads that only the memory can serve. Thresholds between levels come from them.
#pragma once

#include "base/gpu_facts.hpp"
#include "jobs/chase/pointer_chase.hpp"

namespace sonde {

/// Windows of every position of a tiny footprint that stays in the innermost cache of the path.
std::vector<double> measure_resident_latencies(JobRun& run, const ChaseSetup& setup,
                                               const std::string& label);

/// Latencies of lines that no cache holds and whose translation is at hand: cold lines of a few
/// regions, from the top down so that no prefetcher helps; the first of each page is left out.
/// @param seed of the lines
/// @param passes over them, each behind a flush; of several the median counts
/// @param page_bytes a power of two: lines within it have one translation
std::vector<double> measure_memory_latencies(JobRun& run, const ChaseSetup& setup,
                                             const std::string& label, std::uint64_t seed,
                                             std::uint64_t passes = 3,
                                             std::uint64_t page_bytes = large_page_bytes);

/// A chase as overflowing_plan's, in pairs of lines of one page: the first of each brings the
/// translation of the second.
ChasePlan translated_plan(const ChaseSetup& setup, std::uint64_t span_bytes,
                          std::uint64_t step_bytes, std::uint64_t seed,
                          std::uint64_t most_recorded);

/// Latencies of the second loads of such pairs.
/// @throws DeviceError, DeviceLostError
std::vector<double> measure_translated(JobRun& run, const ChaseSetup& setup,
                                       const std::string& label, const ChasePlan& plan);

}  // namespace sonde
