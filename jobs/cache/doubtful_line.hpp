// A line length that footprints leave in doubt, held against full sets of such lines: the step
// between the size and the sets of a cache (jobs/cache_l1, cache_l2, jobs/cache/path_levels).
#pragma once

#include "jobs/cache/geometry.hpp"
#include "jobs/chase/cache_under_test.hpp"

namespace sonde {

/// Where blocks of one line and of several hardly differed. Lines are proven by sets of them, and
/// their contrast is then that of the sets: neighbours lie in different sets, so none is a part of
/// a longer line; and lines that overfill a set do so wherever in each of them they are asked for,
/// while one less stay, even if all that a miss brings is asked for, so they are not two. What is
/// not proven is held against sets that are full of such lines, each asked for at one place: they
/// stay when all of them is, or are blocks of shorter lines. Then lines half as long are tried, and
/// the size is measured anew. What is refuted without another that is proven has no contrast left.
/// Nothing is done behind inner caches, or for one of several partitions.
void settle_doubtful_line(const CacheUnderTest& cache, CacheGeometry& geometry);

}  // namespace sonde
