// Sets of a code cache whose lines are shorter than a block of code: a block that is entered at its
// last line executes no other.
#pragma once

#include "jobs/cache/geometry.hpp"

namespace sonde {

/// Searches for sets with the last lines of blocks and reports them, all but the index function:
/// what the bits below a block choose is not seen. They count if they are all that the cache holds,
/// or those of the last lines alone: then the sets of the others are taken to be like them.
/// @pre the line within a block is known
/// @return why metrics of sets are left without a finding
std::string report_sets_of_last_lines(const CacheUnderTest& cache, const CacheGeometry& geometry);

}  // namespace sonde
