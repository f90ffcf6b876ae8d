// A line length that footprints leave in doubt, held against full sets of such lines: the step
// between the size and the sets of a cache (jobs/cache_l1, cache_l2, jobs/cache/path_levels).
#pragma once

#include "jobs/cache/geometry.hpp"
#include "jobs/chase/cache_under_test.hpp"

namespace sonde {

/// Where blocks of one line and of several hardly differed: as many lines of each set as it has
/// ways stay together, each asked for at one place. If they are lines, they stay when all that a
/// miss brings is asked for, too; blocks of two lines do not. Then lines half as long are tried,
/// and the size is measured anew. What is refuted without another that is proven has no contrast
/// left. Nothing is done behind inner caches, or for one of several partitions.
void settle_doubtful_line(const CacheUnderTest& cache, CacheGeometry& geometry);

}  // namespace sonde
