// Checks whether the findings of a first-level cache on one SM hold on all SMs: first whether all
// SMs answer the same chases equally, so that no odd SM misleads the search; then whether each SM
// has the sets that were found.
#pragma once

#include "jobs/cache/cache_probe.hpp"
#include "jobs/cache/geometry.hpp"

namespace sonde {

/// Excludes SMs that repeatedly miss other lines than most SMs in footprints around the cache's
/// size. If the SM of the cache is one of them, the geometry is measured again on another SM.
void leave_odd_sms(CacheUnderTest& cache, CacheGeometry& geometry);

/// Asks every SM about the sets that were found. Lists of as many lines as a set has ways, of one
/// line more, and a chase over one set must miss as on most SMs. Reports `.alike_sms` and
/// `.odd_sms`, including the SMs excluded before.
void report_every_sm(const CacheUnderTest& cache, CacheProbe& probe, const SetFindings& found);

}  // namespace sonde
