// Latencies of loads that are certain to be served by the first cache of a path, or by the memory.
// The thresholds between levels come from them.
#pragma once

#include "base/gpu_facts.hpp"
#include "jobs/chase/pointer_chase.hpp"

namespace sonde {

/// Latencies of all accesses to a tiny footprint that stays in the innermost cache of the path.
std::vector<double> measure_resident_latencies(JobRun& run, const ChaseSetup& setup,
                                               const std::string& label);

/// Latencies of lines that are in no cache and whose translation is in the TLB: cold lines of a few
/// regions, in descending order so that no prefetcher helps. The first line of each page is left
/// out.
/// @param seed chooses the lines
/// @param passes number of passes, each after a flush; the median of the passes counts
/// @param page_bytes a power of two: lines within it share one translation
std::vector<double> measure_memory_latencies(JobRun& run, const ChaseSetup& setup,
                                             const std::string& label, std::uint64_t seed,
                                             std::uint64_t passes = 3,
                                             std::uint64_t page_bytes = large_page_bytes);

}  // namespace sonde
