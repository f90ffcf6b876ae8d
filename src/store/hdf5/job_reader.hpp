// Follows offsets and lengths from outcomes to their findings, probes and traces.
#pragma once

#include "analysis/results.hpp"
#include "store/hdf5/stored_tables.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace sonde {

/// @throws StoreError if the number of probes differs from the sum in the outcomes
void check_outcomes(const StoredTables& tables);

/// The jobs of consecutive devices from `first` on, in the order in which they ran, with their
/// names in the file. The tables are those of a run file or of one part of a shard.
/// @param outcomes for each device the rows of its jobs
/// @param only the name of the wanted job; empty: all jobs
/// @throws StoreError if rows contradict each other
std::vector<std::vector<JobResult>> read_results(const StoredTables& tables, std::uint64_t first,
                                                 const std::vector<RowRange>& outcomes, Depth depth,
                                                 const std::string& only = "");

}  // namespace sonde
