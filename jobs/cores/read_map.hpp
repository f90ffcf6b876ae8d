// How many bytes each SM reads in a cycle while its whole TPC reads: a part of the job placement.
#pragma once

#include "analysis/topology.hpp"
#include "jobs/run/job_run.hpp"

#include <cstdint>
#include <vector>

namespace sonde {

/// Bytes per cycle by SM; NaN for an SM whose TPC is not known while those of others are.
struct ReadMap {
  std::vector<double> bytes_per_cycle;  // median of the replicates
  std::vector<std::vector<double>> replicates;
};

/// Reads out of the L2 (of memory where there is none) with all SMs of a TPC at once. TPCs of
/// different GPCs read at the same time, so that none shares a port with another; each replicate
/// reads other memory beside other TPCs. Where TPCs are not known, each SM reads alone.
/// @param tpcs, gpcs may be empty: not known
/// @throws DeviceError
ReadMap measure_read_map(JobRun& run, const SmGroups& tpcs, const SmGroups& gpcs,
                         std::uint64_t seed);

}  // namespace sonde
