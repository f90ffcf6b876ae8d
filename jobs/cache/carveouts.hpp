// The L1 co_resident each shared part of the array that the two have in common: how large it is
// there, and whether its sets are the same. A part of the job cache.l1.
#pragma once

#include "jobs/cache/geometry.hpp"
#include "jobs/sets/sets_probe.hpp"

namespace sonde {

/// Sizes co_resident every shared part that holds a record; sets and replacement co_resident the
/// smallest, the middle and the largest of those.
/// @param largest what was found co_resident the smallest shared part
void report_carveouts(JobRun& run, const CacheUnderTest& cache, const CacheGeometry& shape,
                      const SetFindings& largest);

void report_carveouts_absent(JobRun& run, const std::string& reason);

}  // namespace sonde
