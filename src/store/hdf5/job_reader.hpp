// From outcomes along offsets and lengths to all that they own: findings, probes, traces.
#pragma once

#include "analysis/results.hpp"
#include "store/hdf5/stored_tables.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace sonde {

/// @throws StoreError if there are more or fewer probes than outcomes say
void check_outcomes(const StoredTables& tables);

/// The jobs of each of some devices, from `first` on, with these outcomes in the tables of a run
/// file or of one part of a shard: under the names that they have in the file and in the order in
/// which they ran.
/// @param only the job that is wanted; empty: all
/// @throws StoreError if rows contradict each other
std::vector<std::vector<JobResult>> read_results(const StoredTables& tables, std::uint64_t first,
                                                 const std::vector<RowRange>& outcomes, Depth depth,
                                                 const std::string& only = "");

}  // namespace sonde
