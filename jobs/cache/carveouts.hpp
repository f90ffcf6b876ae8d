// The L1 with each shared part of the array that the two have in common: how large it is then, and
// whether its sets are the same. A part of the job cache.l1.
#pragma once

#include "jobs/cache/geometry.hpp"
#include "jobs/sets/sets_probe.hpp"

namespace sonde {

/// Sizes with every shared part that holds a record; sets and replacement with the smallest, the
/// middle and the largest of those.
/// @param largest what was found with the smallest shared part
void report_carveouts(const CacheUnderTest& cache, const CacheGeometry& geometry,
                      const SetFindings& largest);

}  // namespace sonde
