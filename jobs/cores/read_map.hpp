// How many bytes each SM moves in a cycle: a part of the job placement.
#pragma once

#include "analysis/topology.hpp"
#include "jobs/cores/port_trials.hpp"
#include "jobs/run/job_run.hpp"

#include <cstdint>
#include <vector>

namespace sonde {

/// [replicate][SM] bytes per cycle; NaN for an SM whose TPC is not known while those of others are.
using RateMap = std::vector<std::vector<double>>;

/// Reads with all SMs of a TPC at once. TPCs of different GPCs read at the same time, so that none
/// shares a port with another; each replicate reads other memory beside other TPCs. Where TPCs are
/// not known, each SM reads alone.
/// @param tpcs, gpcs may be empty: not known
/// @throws DeviceError
RateMap measure_read_map(JobRun& run, const SmGroups& tpcs, const SmGroups& gpcs,
                         const SmStream& reads, std::uint64_t seed);

/// The same of what each SM has for itself: all of them read at once.
/// @throws DeviceError
RateMap measure_private_reads(JobRun& run, const SmStream& reads);

/// Copies inside shared memory, all SMs at once: what is read and what is written.
/// @throws DeviceError
RateMap measure_shared_copies(JobRun& run);

}  // namespace sonde
