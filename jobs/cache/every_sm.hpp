// Whether what was found of a first cache on one SM holds on all: first whether they answer the
// same chases alike, so that no odd SM leads the search astray, then whether each has the sets that
// were found.
#pragma once

#include "jobs/cache/cache_probe.hpp"
#include "jobs/cache/geometry.hpp"

namespace sonde {

/// Looks for SMs that differ from most others in what they miss of footprints around the size, and
/// do so again: they are not asked any more. If the cache's own SM is one of them, the geometry is
/// measured anew on another.
void leave_odd_sms(CacheUnderTest& cache, CacheGeometry& geometry);

/// Asks every SM for the sets that were found: as many lines as a set has ways, and one more, must
/// do as on most SMs, and so must the misses of chases over one set. Reports `.alike_sms` and
/// `.odd_sms`, those left before among them.
void report_every_sm(const CacheUnderTest& cache, CacheProbe& probe, const SetFindings& found);

}  // namespace sonde
