// How large the L2 is, and each of its partitions where it is divided. A part of the job cache.l2.
// Method: docs/methods/cache.md.
#pragma once

#include "jobs/cache/geometry.hpp"
#include "jobs/cache/loaded_elsewhere.hpp"

#include <string>
#include <vector>

namespace sonde {

/// Of an L2 whose geometry is not known whether it has partitions, and the latency of far hits.
void report_parts_alone(const CacheUnderTest& cache, const LoadedElsewhere& parts);

/// Size, segment and latency of far hits; gives back a remark on how the size was seen.
/// @param parts what lines that another SM loaded tell
std::string characterize_l2_size(CacheUnderTest& cache, const LoadedElsewhere& parts,
                                 const std::vector<double>& hits, const std::vector<double>& misses,
                                 CacheGeometry& geometry);

}  // namespace sonde
