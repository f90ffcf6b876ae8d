// The L1 beside each shared part of the array that the two have in common: how large it is there,
// and whether its sets are the same. A part of the job cache.l1.
#pragma once

#include "jobs/cache_sets.hpp"

namespace sonde {

/// Sizes beside every shared part that holds a record; sets and replacement beside the smallest,
/// the middle and the largest of those.
/// @param largest what was found beside the smallest shared part
void report_carveouts(JobRun& run, const CacheSubject& cache, const CacheShape& shape,
                      const SetFindings& largest);

void report_carveouts_absent(JobRun& run, const std::string& reason);

}  // namespace sonde
